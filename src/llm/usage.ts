import { isRecord } from "../lib/json.ts";
import { type Usage } from "./model-event.ts";

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The API's counts are running totals: a later number replaces an earlier one, a missing one leaves it. */
export function mergeUsage(before: Usage, raw: unknown): Usage {
  if (!isRecord(raw)) return before;
  const numberOr = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise);
  return {
    inputTokens: numberOr(raw["input_tokens"], before.inputTokens),
    outputTokens: numberOr(raw["output_tokens"], before.outputTokens),
    cacheReadTokens: numberOr(raw["cache_read_input_tokens"], before.cacheReadTokens),
    cacheWriteTokens: numberOr(raw["cache_creation_input_tokens"], before.cacheWriteTokens),
  };
}
