import type { stt } from "@livekit/agents";
import type { Synthesizer } from "./synthesizer.ts";

/** A provider's settings, from `STT_…` or `TTS_…`. Undefined means the provider's own default. */
export interface SpeechSettings {
  readonly key: string | undefined;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** For `listen` only. */
  readonly language: string | undefined;
  /** For `speak` only. */
  readonly voice: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * A provider that can listen, speak or both. It consists of one file in this folder and one line in `provider-list.ts`.
 * It must not load its package before `listen` or `speak` is called.
 */
export interface SpeechProvider {
  /** The value of `STT` and `TTS` that selects it. */
  readonly name: string;
  /** Its npm package, an optional dependency. */
  readonly package?: string;
  /** The environment variable that contains its key. */
  readonly key?: string;
  /**
   * Whether `STT_BASE_URL` and `TTS_BASE_URL` may point to another server with the same API. That server may need no
   * key.
   */
  readonly hasBaseUrl?: boolean;
  /** Whether it needs LiveKit Cloud. The livekit-server that we start does not provide it. */
  readonly needsLivekitCloud?: boolean;
  readonly listen?: (settings: SpeechSettings) => Promise<stt.STT | undefined>;
  /** Resolves to undefined if the provider cannot speak on this machine. Answers are then text only. */
  readonly speak?: (settings: SpeechSettings) => Promise<Synthesizer | undefined>;
}

/** Removes undefined options, so that the plugin's own defaults apply. */
export function defined<Options extends Readonly<Record<string, string | undefined>>>(options: Options) {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Options]?: NonNullable<Options[Name]> };
}

/** Whether an optional dependency is installed. Does not load it. */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
