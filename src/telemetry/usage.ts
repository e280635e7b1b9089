import type { Attributes } from "@opentelemetry/api";
import type { Instruments } from "./instruments.ts";
import { ATTR, VOCABULARY, type Convention } from "./names.ts";

/** Tokens as the API counts them: `inputTokens` excludes cache reads and cache writes. */
export interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Returns the input tokens as GenAI counts them: including cache reads and cache writes. */
function allInput({ inputTokens, cacheReadTokens, cacheWriteTokens }: Tokens): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

export function usageAttributes(
  tokens: Tokens,
  { convention, hasCache }: { readonly convention: Convention; readonly hasCache: boolean },
): Attributes {
  return {
    [ATTR.inputTokens]: allInput(tokens),
    [ATTR.outputTokens]: tokens.outputTokens,
    ...(hasCache && {
      [ATTR.cacheReadTokens]: tokens.cacheReadTokens,
      [VOCABULARY[convention].cacheWriteTokens]: tokens.cacheWriteTokens,
    }),
  };
}

export function recordUsage({ tokens: instruments }: Instruments, tokens: Tokens, attributes: Attributes): void {
  const input = allInput(tokens);
  if ("tokenUsage" in instruments) {
    instruments.tokenUsage.record(input, { ...attributes, [ATTR.tokenType]: "input" });
    instruments.tokenUsage.record(tokens.outputTokens, { ...attributes, [ATTR.tokenType]: "output" });
    return;
  }
  const { counters, callInputTokens, callOutputTokens } = instruments;
  counters.inputTokens.add(input, attributes);
  counters.outputTokens.add(tokens.outputTokens, attributes);
  counters.cacheReadTokens.add(tokens.cacheReadTokens, attributes);
  counters.cacheWriteTokens.add(tokens.cacheWriteTokens, attributes);
  callInputTokens.record(input, attributes);
  callOutputTokens.record(tokens.outputTokens, attributes);
}
