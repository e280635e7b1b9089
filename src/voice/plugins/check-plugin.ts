import { stt, tts } from "@livekit/agents";
import { AppError } from "../../errors/app-error.ts";
import { abortable } from "../../lib/abortable.ts";
import { isRecord } from "../../lib/json.ts";
import { isSampleRate } from "../providers/plugin-sound.ts";
import { namedError, pluginName } from "../providers/plugin-error.ts";

interface Plugins {
  readonly listen: stt.STT;
  readonly speak: tts.TTS;
}

/** The fields of `voice` that create plugins. */
export type PluginUse = keyof Plugins;

const CLASSES = { listen: stt.STT, speak: tts.TTS } as const;
const EXPECTED = { listen: "a recognizer (STT)", speak: "a voice (TTS)" } as const;

/** How long a function of `voice.listen` or `voice.speak` may take. */
const CREATED_WITHIN_MS = 5_000;

/**
 * Calls a function of `voice.listen` or `voice.speak`. The caller closes the plugin.
 *
 * @throws an error that names the field if the function fails or takes too long, or if sessions cannot use the plugin
 */
export async function createPlugin<Use extends PluginUse>(use: Use, create: () => unknown): Promise<Plugins[Use]> {
  const creating = (async () => create())();
  const value = await abortable(creating, AbortSignal.timeout(CREATED_WITHIN_MS)).catch((error: unknown) => {
    throw namedError(`voice.${use}`, error);
  });
  const plugin = checkPlugin(use, value);
  // Without a listener, an `error` event would crash the process. Failed streams report their errors themselves.
  plugin.on("error", () => {});
  return plugin;
}

/**
 * Returns the value that a function of `voice.listen` or `voice.speak` has created, if sessions can use it.
 *
 * @throws {AppError} `invalid_config` naming the field and the plugin
 */
export function checkPlugin<Use extends PluginUse>(use: Use, value: unknown): Plugins[Use] {
  const bad = (why: string) => new AppError("invalid_config", `voice.${use}: ${why}`);
  if (!(value instanceof CLASSES[use])) throw bad(describeOther(use, value));
  const name = pluginName(value);
  const { streaming } = value.capabilities ?? {};
  if (typeof streaming !== "boolean") throw bad(`${name} doesn't say whether it streams (capabilities.streaming)`);
  if (value instanceof tts.TTS) {
    const { sampleRate } = value;
    if (!isSampleRate(sampleRate)) throw bad(`${name} has no valid sample rate, got ${sampleRate}`);
  }
  return value as unknown as Plugins[Use];
}

function describeOther(use: PluginUse, value: unknown): string {
  const expected = `expected the function to return ${EXPECTED[use]} of @livekit/agents`;
  if (value instanceof stt.STT || value instanceof tts.TTS) return `${expected}, got ${pluginName(value)}`;
  if (!isRecord(value)) return `${expected}, got ${value === null ? "null" : typeof value}`;
  const label = typeof value["label"] === "string" ? value["label"] : value.constructor?.name;
  if (!("capabilities" in value && typeof value["stream"] === "function")) return `${expected}, got ${label}`;
  return (
    `${label} belongs to another copy of @livekit/agents. Make npm install a single copy ` +
    '("overrides" in package.json, docs/voice.md#plugins; npm ls @livekit/agents lists the copies)'
  );
}
