import { AppError } from "../../errors/app-error.ts";
import type { TestModel } from "./test-model.ts";

/** Returns the agent's production model, reached with ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL. */
export function real(): TestModel {
  return {
    open: async () => ({ ...realEndpoint(), problems: () => [], left: () => 0, close: async () => {} }),
  };
}

/** @throws {AppError} `invalid_config` if the environment has neither a key nor a base URL */
export function realEndpoint(): { readonly apiKey: string; readonly baseUrl: string | undefined } {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl } = process.env;
  if (!apiKey && !baseUrl)
    throw new AppError("invalid_config", "ANTHROPIC_API_KEY: expected a value, because the test asks a real model");
  // A self-hosted server may need no key, but Anthropic's SDK does.
  return { apiKey: apiKey || "none", baseUrl: baseUrl || undefined };
}
