import type { ReactNode } from "react";
import { useClockAhead } from "../../shared/worker-clock.ts";

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

interface MessageTimeProps {
  /** Unix ms. */
  readonly at: number;
  /** The clock that `at` was read from. The time shown is converted to this device's clock. */
  readonly by: "worker" | "device";
}

/** The time of a message, with the date unless it is today. */
export function MessageTime({ at, by }: MessageTimeProps): ReactNode {
  const aheadMs = useClockAhead();
  const date = new Date(by === "worker" ? at + aheadMs : at);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time className="when" dateTime={date.toISOString()}>
      {(isToday ? TIME : DAY_AND_TIME).format(date)}
    </time>
  );
}
