import { realEndpoint } from "../model/real.ts";
import type { TestModel } from "../model/test-model.ts";
import { recordCalls } from "./record-calls.ts";
import { createRedact } from "../../scenario/redact.ts";
import { replayCalls } from "./replay-calls.ts";

export interface CassetteOptions {
  /** What else is to be removed from the cassette, such as names. The same is removed before requests are compared. */
  readonly redact?: readonly RegExp[];
  /** Events come as late as they came when they were recorded. @defaultValue false: at once */
  readonly isTimed?: boolean;
}

/**
 * A model that was recorded. With PARLEY_RECORD=1 the real model answers and the file is written anew; else what is in
 * the file is played, and the agent must ask exactly what it asked then.
 */
export function cassette(file: string, { redact: more, isTimed = false }: CassetteOptions = {}): TestModel {
  const redact = createRedact(more);
  return {
    open: async () => {
      if (process.env["PARLEY_RECORD"] !== "1") return replayCalls({ file, redact, isTimed });
      const { apiKey, baseUrl = "https://api.anthropic.com" } = realEndpoint();
      return recordCalls({ file, redact, apiKey, upstream: baseUrl });
    },
  };
}
