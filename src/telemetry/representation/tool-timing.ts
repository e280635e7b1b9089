/** What is known of when a server tool ran; Anthropic's results carry no times. */
export interface ToolTiming {
  /** Unix ms. */
  readonly startedAt?: number;
  readonly durationMs?: number;
}

interface TimingFields {
  readonly duration_ms?: number;
  readonly timestamp?: string;
}

/** Beyond it a Date has no text. */
const MAX_DATE_MS = 8.64e15;

/** What is unknown, or cannot be (a duration below 0, from a clock that was set back), is absent. */
export function toTimingFields({ startedAt, durationMs }: ToolTiming = {}): TimingFields {
  const hasDuration = durationMs !== undefined && Number.isFinite(durationMs) && durationMs >= 0;
  const hasStart = startedAt !== undefined && Math.abs(startedAt) <= MAX_DATE_MS;
  return {
    ...(hasDuration && { duration_ms: durationMs }),
    ...(hasStart && { timestamp: new Date(startedAt).toISOString().replace(".000Z", "Z") }),
  };
}
