import { watchedValue } from "../shared/watched-value.ts";

/** A short text that a tool shows on this page, until it is closed or has been there for a while. */
interface Notice {
  readonly id: number;
  readonly message: string;
  /** How many answers have begun since. */
  readonly answers: number;
}

/** At most so many, to leave room for the talk. */
const MAX_NOTICES = 3;
/** A notice goes when so many answers have begun since: it is read by then, and its call is still in the talk. */
const GOES_AFTER_ANSWERS = 2;

const notices = watchedValue<readonly Notice[]>([]);
let count = 0;

export const useNotices = notices.use;

export function showNotice(message: string): void {
  notices.set([...notices.get(), { id: ++count, message, answers: 0 }].slice(-MAX_NOTICES));
}

export function closeNotice(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}

/** For when an answer begins. */
export function ageNotices(): void {
  const older = notices.get().map((notice) => ({ ...notice, answers: notice.answers + 1 }));
  notices.set(older.filter(({ answers }) => answers < GOES_AFTER_ANSWERS));
}

export function closeNotices(): void {
  notices.set([]);
}
