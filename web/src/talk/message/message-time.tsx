import type { ReactNode } from "react";
import { useClockAhead } from "../../shared/worker-clock.ts";
import { useLanguage } from "../../shared/words/words.ts";
import { toMoment } from "../../shared/words/formats.ts";

interface MessageTimeProps {
  /** Unix ms. */
  readonly at: number;
  /** The clock that `at` was read from. The time shown is converted to this device's clock. */
  readonly by: "worker" | "device";
}

/** The time of a message, with the date unless it is today. */
export function MessageTime({ at, by }: MessageTimeProps): ReactNode {
  useLanguage();
  const aheadMs = useClockAhead();
  const date = new Date(by === "worker" ? at + aheadMs : at);
  return (
    <time className="when" dateTime={date.toISOString()}>
      {toMoment(date)}
    </time>
  );
}
