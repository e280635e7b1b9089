/** A part of a turn, measured by one span of its trace, in ms from the start of the turn. */
export type TurnPart = {
  /** The operation in the span's name, such as `execute_tool`, without the rest of the name (docs/telemetry.md). */
  readonly span: string;
  /** Negative for a spoken question, which comes before its turn. */
  readonly fromMs: number;
  /** Absent while the part is in progress. */
  toMs?: number;
  /**
   * Depends on the span: the time of the model's first streamed event, of the first word of the answer that was
   * played, or of the end of the question's last word.
   */
  firstMs?: number;
  /** Set for a tool call, and for its waits for a claim or a permission. */
  readonly callId?: string;
  /** The model's id of the tool use. Set without `callId` if Anthropic runs the tool. */
  readonly toolUseId?: string;
};

/** How the end of a spoken question was judged, at the last pause. */
export type TurnEndJudgment = {
  /** The probability by the sound that the participant has finished, from 0 to 1. Absent if the model failed. */
  readonly sound?: number;
  /** Whether the words end like a sentence. Absent if the recognizer writes no punctuation. */
  readonly endsSentence?: boolean;
  /** If false, the turn ended only after `voice.endOfTurnMs.incomplete`. */
  readonly isComplete: boolean;
};

/** The timings of a turn, measured by the worker that ended it. They contain no content. */
export type TurnTimings = {
  /** Unix ms, by the worker's clock. */
  readonly startedAt: number;
  /** The time until the end of the turn. Once the speech has finished, the time until the end of the speech. */
  readonly totalMs: number;
  /** The time until the first words of the answer, if it has any. */
  readonly firstTextMs?: number;
  readonly parts: readonly TurnPart[];
  /** How the end of a spoken question was judged. Absent if only the silence was measured. */
  readonly turnEnd?: TurnEndJudgment;
};
