import { fieldsOf, refuseUnknownFields } from "../../lib/checks/did-you-mean.ts";
import { realEndpoint } from "../model/real.ts";
import type { TestModel } from "../model/test-model.ts";
import { recordCalls } from "./record-calls.ts";
import { createRedact } from "../../scenario/redact.ts";
import { replayCalls } from "./replay-calls.ts";

export interface CassetteOptions {
  /**
   * Strings to remove, such as names. They are removed from the agent's requests, too, before the requests are
   * compared.
   */
  readonly redact?: readonly RegExp[];
  /** Whether events are replayed with their recorded delays. @defaultValue false: without delays */
  readonly isTimed?: boolean;
}

const OPTIONS = fieldsOf<CassetteOptions>({ redact: true, isTimed: true });

/**
 * Returns a recorded model. With PARLEY_RECORD=1, the real model answers and the file is rewritten. Otherwise the file
 * is replayed, and the agent must send exactly the recorded requests.
 */
export function cassette(file: string, options: CassetteOptions = {}): TestModel {
  refuseUnknownFields(options, OPTIONS, "cassette's options");
  const { redact: more, isTimed = false } = options;
  const redact = createRedact(more);
  return {
    open: async () => {
      if (process.env["PARLEY_RECORD"] !== "1") return replayCalls({ file, redact, isTimed });
      const { apiKey, baseUrl = "https://api.anthropic.com" } = realEndpoint();
      return recordCalls({ file, redact, apiKey, upstream: baseUrl });
    },
  };
}
