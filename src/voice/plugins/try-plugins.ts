import { AppError } from "../../errors/app-error.ts";
import { createPlugin, type PluginUse } from "./check-plugin.ts";
import type { PluginFields } from "./session-speech.ts";

/**
 * Creates, checks and closes the plugins of each function without a parameter, so that a mistake or a missing key stops
 * the worker's start. A function with a parameter needs a session, so its plugins are checked when a session starts.
 *
 * @param place where the functions are defined, for errors
 * @throws {AppError} `invalid_config`
 */
export async function tryPlugins(place: string, voice: PluginFields): Promise<void> {
  for (const use of ["listen", "speak"] as const)
    for (const create of [voice[use] ?? []].flat() as (() => unknown)[])
      if (create.length === 0) await tryPlugin(use, create).catch((error: unknown) => fail(place, error));
}

async function tryPlugin(use: PluginUse, create: () => unknown): Promise<void> {
  const plugin = await createPlugin(use, create);
  await plugin.close().catch(() => {});
}

function fail(place: string, error: unknown): never {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  // No session has begun, so the plugin's own message quotes nobody.
  const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
  throw new AppError("invalid_config", `${place}: ${why}`, { cause: error });
}
