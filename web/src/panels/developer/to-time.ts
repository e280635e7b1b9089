import { toDuration } from "../../shared/words/formats.ts";

/** Formats a duration to two decimals of a second. */
export function toTime(ms: number): string {
  return toDuration(ms, 2);
}
