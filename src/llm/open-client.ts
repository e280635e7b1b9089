import { Anthropic } from "@anthropic-ai/sdk";
import { createHttpFetch } from "./http-fetch.ts";

export interface ClientOptions {
  readonly apiKey: string;
  /** @defaultValue the SDK's own: `ANTHROPIC_BASE_URL`, else Anthropic */
  readonly baseUrl?: string;
  /** Betas of the API that requests make use of. */
  readonly betas?: readonly string[];
}

/** The one way in which Parley reaches and signs in to the Messages API. */
export function openClient({ apiKey, baseUrl, betas = [] }: ClientOptions): Anthropic {
  return new Anthropic({
    apiKey,
    authToken: null,
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    ...(betas.length > 0 && { defaultHeaders: { "anthropic-beta": betas.join() } }),
    fetch: createHttpFetch(),
    maxRetries: 0, // The SDK waits as long as retry-after says, without end; `createModel` has a budget.
    openTelemetry: false,
    logLevel: "off", // It would print the events that it cannot parse.
  });
}
