import { Anthropic } from "@anthropic-ai/sdk";
import { createHttpFetch } from "./http-fetch.ts";

export interface ClientOptions {
  readonly apiKey: string;
  /** @defaultValue the SDK's default: `ANTHROPIC_BASE_URL`, otherwise Anthropic */
  readonly baseUrl?: string;
  /** API betas that requests use. */
  readonly betas?: readonly string[];
}

/** Creates the client through which Parley makes all requests to the Messages API. */
export function openClient({ apiKey, baseUrl, betas = [] }: ClientOptions): Anthropic {
  return new Anthropic({
    apiKey,
    authToken: null,
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    ...(betas.length > 0 && { defaultHeaders: { "anthropic-beta": betas.join() } }),
    fetch: createHttpFetch(),
    maxRetries: 0, // Otherwise the SDK obeys any retry-after, however long. `createModel` limits the wait.
    openTelemetry: false,
    logLevel: "off", // Otherwise the SDK logs events that it cannot parse.
  });
}
