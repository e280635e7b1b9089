/** GenAI's own, or the API's word where GenAI has none (`pause_turn`). */
export type FinishReason = "stop" | "length" | "content_filter" | "tool_call" | "error" | (string & {});

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
  ["tool_use", "tool_call"],
]);

/** `undefined`: the call ended without a reason, because it failed or was aborted. */
export function toFinishReason(stopReason: string | undefined): FinishReason {
  return stopReason === undefined ? "error" : (FINISH_REASONS.get(stopReason) ?? stopReason);
}
