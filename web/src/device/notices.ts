import { watchedValue } from "../shared/watched-value.ts";

/** A short message that a tool shows on this page, until it is closed or expires. */
interface Notice {
  readonly id: number;
  readonly message: string;
  /** How many answers have started since the notice was shown. */
  readonly answers: number;
}

/** The maximum number of notices shown at once, to leave space for the messages. */
const MAX_NOTICES = 3;
/**
 * How many answers must have started for a notice to be removed. By then, the person has read it, and the messages
 * still show its call.
 */
const REMOVED_AFTER_ANSWERS = 2;

const notices = watchedValue<readonly Notice[]>([]);
let count = 0;

export const useNotices = notices.use;

export function showNotice(message: string): void {
  notices.set([...notices.get(), { id: ++count, message, answers: 0 }].slice(-MAX_NOTICES));
}

export function closeNotice(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}

/** Counts an answer that has started, and removes notices that are too old. */
export function ageNotices(): void {
  const older = notices.get().map((notice) => ({ ...notice, answers: notice.answers + 1 }));
  notices.set(older.filter(({ answers }) => answers < REMOVED_AFTER_ANSWERS));
}

export function closeNotices(): void {
  notices.set([]);
}
