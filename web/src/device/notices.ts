import { watchedValue } from "../shared/watched-value.ts";

/** A short text that a tool shows on this page, until it is closed. */
interface Notice {
  readonly id: number;
  readonly message: string;
}

/** At most so many, to leave room for the talk. */
const MAX_NOTICES = 3;

const notices = watchedValue<readonly Notice[]>([]);
let count = 0;

export const useNotices = notices.use;

export function showNotice(message: string): void {
  notices.set([...notices.get(), { id: ++count, message }].slice(-MAX_NOTICES));
}

export function closeNotice(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}
