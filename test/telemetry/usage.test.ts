import { expect, test } from "vitest";
import { usageAttributes } from "../../src/telemetry/usage.ts";

const TOKENS = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 200, cacheWriteTokens: 30 };

test("tokens read from and written to a cache count as input", () => {
  expect(usageAttributes(TOKENS, { convention: "1.41", hasCache: true })).toEqual({
    "gen_ai.usage.input_tokens": 240,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.usage.cache_read.input_tokens": 200,
    "gen_ai.usage.cache_creation.input_tokens": 30,
  });
});

test("the newer attribute names say cache_write in place of cache_creation", () => {
  expect(usageAttributes(TOKENS, { convention: "latest", hasCache: true })).toMatchObject({
    "gen_ai.usage.input_tokens": 240,
    "gen_ai.usage.cache_write.input_tokens": 30,
  });
});
