import type { stt, tts } from "@livekit/agents";
import { AppError } from "../../errors/app-error.ts";

/** Returns the name of a plugin in logs and errors, such as `rime.TTS`. */
export function pluginName(plugin: stt.STT | tts.TTS): string {
  return plugin.label || plugin.constructor.name;
}

/**
 * Returns an error that names the plugin. A plugin's own error becomes the cause, because its message may quote what
 * was said.
 */
export function namedError(name: string, error: unknown): AppError {
  if (error instanceof AppError) return new AppError(error.code, `${name}: ${error.message}`);
  return new AppError("unavailable", `${name} failed`, { cause: error });
}
