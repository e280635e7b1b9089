/** A part of a turn: what one span of its trace times, in ms from the turn's begin. */
export type TurnPart = {
  /** The span's name, without what it is of (docs/telemetry.md). */
  readonly span: string;
  /** Negative for what came before the turn: a question that was spoken. */
  readonly fromMs: number;
  /** Absent while it goes on. */
  toMs?: number;
  /** A model's first piece, the first word of an answer that is heard, or the end of a question's last word. */
  firstMs?: number;
  /** Of a tool's call, the wait for its claim or a permission. */
  readonly callId?: string;
  /** The model's id of that use; alone where Anthropic runs the tool. */
  readonly toolUseId?: string;
};

/** When what happened in a turn, as the worker that ended it has measured. It holds no content. */
export type TurnTimings = {
  /** Unix ms, by the worker's clock. */
  readonly startedAt: number;
  /** To its end, and to the end of its speech once that is over. */
  readonly totalMs: number;
  /** To the answer's first words, if it has any. */
  readonly firstTextMs?: number;
  readonly parts: readonly TurnPart[];
};
