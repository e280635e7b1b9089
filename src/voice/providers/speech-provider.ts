import type { stt } from "@livekit/agents";
import type { Synthesizer } from "./synthesizer.ts";

/** A provider's settings, from `STT_…` or `TTS_…`. Undefined: the provider's own default. */
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
 * A provider that can listen, speak or both: one file of this folder, and one line in `provider-list.ts`. It must not
 * load its package before `listen` or `speak` is called.
 */
export interface SpeechProvider {
  /** The value of `STT` and `TTS` that chooses it. */
  readonly name: string;
  /** Its npm package, an optional dependency. */
  readonly package?: string;
  /** The environment variable that holds its key. */
  readonly key?: string;
  /** `STT_BASE_URL` and `TTS_BASE_URL` may name another server with the same API; that server may need no key. */
  readonly hasBaseUrl?: boolean;
  /** It needs LiveKit Cloud; the livekit-server that we start does not have it. */
  readonly isOfLivekitCloud?: boolean;
  /** Memory that its model needs in each process that listens, and again in each that speaks, in MB. @defaultValue 0 */
  readonly modelMb?: number;
  /** Fetches what it listens and speaks with, unless it is on the machine. The worker does so before it starts its hosts. */
  readonly fetch?: (use: "listen" | "speak", env: NodeJS.ProcessEnv) => Promise<void>;
  readonly listen?: (settings: SpeechSettings) => Promise<stt.STT | undefined>;
  /** Resolves to undefined when it cannot speak on this machine; answers are text only then. */
  readonly speak?: (settings: SpeechSettings) => Promise<Synthesizer | undefined>;
}

/** Leaves out undefined options, so that the plugin's own defaults hold. */
export function defined<Options extends Readonly<Record<string, string | undefined>>>(options: Options) {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Options]?: NonNullable<Options[Name]> };
}

/** Whether an optional dependency is there, without loading it. */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
