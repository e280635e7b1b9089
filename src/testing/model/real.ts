import { AppError } from "../../errors/app-error.ts";
import type { TestModel } from "./test-model.ts";

/** The model that the agent has in production, reached with ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL. */
export function real(): TestModel {
  return {
    open: async () => ({ ...realEndpoint(), problems: () => [], left: () => 0, close: async () => {} }),
  };
}

/** @throws {AppError} `invalid_config` when the environment has neither a key nor an address */
export function realEndpoint(): { readonly apiKey: string; readonly baseUrl: string | undefined } {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl } = process.env;
  if (!apiKey && !baseUrl)
    throw new AppError("invalid_config", "ANTHROPIC_API_KEY: expected a value, because the test asks a real model");
  // A server of one's own may need no key, but Anthropic's SDK does.
  return { apiKey: apiKey || "none", baseUrl: baseUrl || undefined };
}
