/** A moment in the local time of `timeZone`. */
export interface LocalTime {
  readonly timeZone: string;
  /** YYYY-MM-DD */
  readonly date: string;
  /** 24 hours, HH:MM:SS */
  readonly time: string;
  readonly weekday: string;
  /** ±HH:MM */
  readonly utcOffset: string;
  readonly iso: string;
}

/** @throws {Error} if the zone is unknown. The message names the zone */
export function timeIn(timeZone: string, now: Date): LocalTime {
  if (!isTimeZone(timeZone)) {
    const shown = JSON.stringify(timeZone.slice(0, 64));
    throw new Error(`Unknown time zone ${shown}: use an IANA name such as "Europe/Berlin" or "UTC"`);
  }
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    weekday: "long",
    timeZoneName: "longOffset",
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? "";
  const date = `${part("year")}-${part("month")}-${part("day")}`;
  const time = `${part("hour")}:${part("minute")}:${part("second")}`;
  const utcOffset = part("timeZoneName").replace(/^GMT$/, "GMT+00:00").slice("GMT".length);
  const name = format.resolvedOptions().timeZone;
  return { timeZone: name, date, time, weekday: part("weekday"), utcOffset, iso: `${date}T${time}${utcOffset}` };
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
