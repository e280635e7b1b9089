import { anyOf, capitalize, unicodeRegExp } from "./characters.ts";
import { cardinal, ordinal } from "./numbers.ts";
import type { Rule } from "./traced-text.ts";

interface DateRules {
  readonly times: Rule[];
  /** Dates in digits. */
  readonly dates: Rule[];
  /** Dates with the name of the month. */
  readonly namedDates: Rule[];
  /** Returns undefined if there is no such day. */
  readonly monthAndDay: (month: number, day: number) => string | undefined;
}

const isDay = (day: number): boolean => day >= 1 && day <= 31;

function timeWords(match: RegExpExecArray): string {
  const [all, hour = "", minute = "", second, half] = match;
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second ?? 0)];
  if (hours > 24 || minutes > 59 || seconds > 59) return all;
  let words = cardinal(hour);
  if (minutes > 0) words += ` ${minutes < 10 ? "oh " : ""}${cardinal(minute)}`;
  else if (!half && !second) words += " o'clock";
  if (second) words += ` and ${cardinal(second)} second${seconds === 1 ? "" : "s"}`;
  // Write periods ("A.M."), so that the dictionary's rules spell out the letters.
  if (half) words += ` ${half.toUpperCase()}.M${match.input[match.index + all.length] === "." ? "" : "."}`;
  return words;
}

export function dateRules(months: Readonly<Record<string, string>>): DateRules {
  const names = Object.values(months);
  const name = anyOf([...names, ...Object.keys(months).map(capitalize), "Sept"]);
  const nameOf = (month: string): string => months[month.toLowerCase().slice(0, 3)] ?? month;
  const monthAndDay = (month: number, day: number): string | undefined => {
    const written = names[month - 1];
    return written !== undefined && isDay(day) ? `${written} ${ordinal(String(day))}` : undefined;
  };
  const withYear = (date: string | undefined, year: string): string | undefined => date && `${date}, ${year}`;
  return {
    monthAndDay,
    times: [
      [
        unicodeRegExp(
          String.raw`\b([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\s?([AaPp])\.?[Mm]\.?(?![A-Za-z]))?(?![0-9])`,
          "g",
        ),
        timeWords,
      ],
    ],
    dates: [
      [
        unicodeRegExp(String.raw`\b([0-9]{4})-([0-9]{2})-([0-9]{2})\b`, "g"),
        ([all, year = "", month, day]) => withYear(monthAndDay(Number(month), Number(day)), year) ?? all,
      ],
      [
        unicodeRegExp(String.raw`\b([0-9]{1,2})/([0-9]{1,2})/([0-9]{4}|[0-9]{2})\b`, "g"),
        ([all, first, second, written = ""]) => {
          const [a, b] = [Number(first), Number(second)];
          const century = Number(written) > 30 ? "19" : "20";
          const year = written.length === 2 ? century + written : written;
          return withYear(a <= 12 ? monthAndDay(a, b) : monthAndDay(b, a), year) ?? all;
        },
      ],
    ],
    namedDates: [
      [
        unicodeRegExp(String.raw`\b(${name})\.? ([0-9]{1,2})(?:st|nd|rd|th)?\b(?![0-9:%])(,? [0-9]{4}\b)?`, "g"),
        ([all, month = "", day = "", year = ""]) =>
          isDay(Number(day)) ? `${nameOf(month)} ${ordinal(day)}${year}` : all,
      ],
      [
        unicodeRegExp(String.raw`\b(the )?([0-9]{1,2}) (?:of )?(${name})\b\.?`, "g"),
        ([all, , day = "", month = ""]) => (isDay(Number(day)) ? `the ${ordinal(day)} of ${nameOf(month)}` : all),
      ],
    ],
  };
}
