import { getLocale, getWords } from "./words.ts";

/** Formats a number in the page's language, with a fixed number of decimals. */
export function toNumber(value: number, decimals = 0): string {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return new Intl.NumberFormat(getLocale(), digits).format(value);
}

/** `0.42` → `42%` */
export function toPercent(share: number): string {
  return new Intl.NumberFormat(getLocale(), { style: "percent" }).format(share);
}

/** Formats a duration in ms: below a second in ms, otherwise in seconds. */
export function toDuration(ms: number, decimals = 1): string {
  return ms < 1_000 ? getWords().milliseconds(toNumber(ms)) : toSeconds(ms / 1_000, decimals);
}

export function toSeconds(seconds: number, decimals = 1): string {
  return getWords().seconds(toNumber(seconds, decimals));
}

export function toMegabytes(bytes: number): string {
  return getWords().megabytes(toNumber(bytes / 1_000_000, 1));
}

/** Formats a moment, with the date unless it is today. */
export function toMoment(date: Date): string {
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? new Intl.DateTimeFormat(getLocale(), { timeStyle: "short" }).format(date) : toDateAndTime(date);
}

export function toDateAndTime(date: Date): string {
  return new Intl.DateTimeFormat(getLocale(), { dateStyle: "medium", timeStyle: "short" }).format(date);
}
