/** When what happened in a turn, as the worker has measured it: docs/transcripts.md. */
export interface Timings {
  readonly startedAt: number;
  readonly totalMs: number;
  readonly firstTextMs?: number;
  readonly parts: readonly TimedPart[];
}

export interface TimedPart {
  readonly span: string;
  readonly fromMs: number;
  readonly toMs?: number;
  readonly firstMs?: number;
  readonly callId?: string;
  readonly toolUseId?: string;
}
