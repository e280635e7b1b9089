import { type stt } from "@livekit/agents";
import { type Synthesizer } from "./synthesizer.ts";

/** What the environment says to whoever was chosen, by `STT_…` or `TTS_…`. Undefined: the provider's own default. */
export interface SpeechSettings {
  readonly key: string | undefined;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** For those that listen. */
  readonly language: string | undefined;
  /** For those that speak. */
  readonly voice: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Somebody that can listen, speak or both: a file of this folder, and a line in `provider-list.ts`. It loads its package
 * when it is asked to listen or to speak, and not before.
 */
export interface SpeechProvider {
  /** The value of `STT` and `TTS` that chooses it. */
  readonly name: string;
  /** Its npm package, an optional dependency. */
  readonly package?: string;
  /** The variable that has its key. */
  readonly key?: string;
  /** `STT_BASE_URL` and `TTS_BASE_URL` name another server with its API, which may want no key. */
  readonly hasBaseUrl?: boolean;
  /** It is a part of LiveKit Cloud, and a livekit-server that we start has none. */
  readonly isOfLivekitCloud?: boolean;
  readonly listen?: (settings: SpeechSettings) => Promise<stt.STT | undefined>;
  /** Undefined: it cannot speak on this machine, and answers are text only. */
  readonly speak?: (settings: SpeechSettings) => Promise<Synthesizer | undefined>;
}

/** Options for a plugin, whose own defaults hold for what is undefined. */
export function given<Options extends Readonly<Record<string, string | undefined>>>(options: Options) {
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
