import type { stt } from "@livekit/agents";
import type { SpeechModelOf } from "../../speech/start-model.ts";
import { isInstalled, type SpeechProvider } from "./speech-provider.ts";
import { SPEECH_PROVIDERS, type SttName, type TtsName } from "./provider-list.ts";
import type { Synthesizer } from "./synthesizer.ts";

/**
 * The providers for listening and speaking, with their settings and keys. `none` is also chosen if parley.config.ts has
 * a plugin instead.
 */
export interface SpeechChoice {
  readonly stt: SttName;
  readonly sttModel: string | undefined;
  readonly sttLanguage: string | undefined;
  readonly sttBaseUrl: string | undefined;
  readonly tts: TtsName;
  readonly ttsModel: string | undefined;
  readonly ttsVoice: string | undefined;
  readonly ttsBaseUrl: string | undefined;
  /** The API keys, by the name of their environment variable. */
  readonly keys: Readonly<Record<string, string | undefined>>;
  /** Whether we start livekit-server ourselves. It has no LiveKit Inference, which is part of LiveKit Cloud. */
  readonly hasOwnLivekit: boolean;
}

/** The chosen recognizer and voice. Each is undefined if it is `none` or does not work on this machine. */
export interface Speech {
  readonly stt: stt.STT | undefined;
  readonly synthesizer: Synthesizer | undefined;
  /**
   * Returns the chosen provider's synthesizer for another voice, and creates it on the first call for that voice.
   * Resolves to undefined if the provider cannot speak.
   */
  readonly voiceNamed: (name: string) => Promise<Synthesizer | undefined>;
  /** Judges by the sound whether a participant has finished. Undefined if nothing does. */
  readonly endOfTurnModel?: SpeechModelOf<"endOfTurn"> | undefined;
  /**
   * Whether sessions use the plugins of parley.config.ts and of their agents, which override the chosen providers.
   * @defaultValue false
   */
  readonly usesPlugins?: boolean;
  readonly close: () => Promise<void>;
}

/** Returns the required but missing variables of the chosen providers, one line each. */
export function missingSpeech(choice: SpeechChoice): string[] {
  return usesOf(choice).flatMap(({ chosen, name, baseUrl }) => {
    const provider = providerOf(name);
    const { key } = provider;
    const lacksCloud = provider.needsLivekitCloud && choice.hasOwnLivekit;
    const lacksKey = key !== undefined && keyOf(provider, choice) === undefined;
    const hasOwnServer = provider.hasBaseUrl && baseUrl !== undefined;
    return [
      ...(lacksCloud ? [`LIVEKIT_URL: an address of LiveKit Cloud, which runs the inference ${chosen}`] : []),
      ...(lacksKey && !hasOwnServer ? [`${key}: a key ${chosen}`] : []),
    ];
  });
}

/** Returns the required packages of the chosen providers that are not installed. */
export function missingPlugins(choice: SpeechChoice): { readonly name: string; readonly use: string }[] {
  return usesOf(choice).flatMap(({ chosen, name }) => {
    const { package: plugin } = providerOf(name);
    return plugin === undefined || isInstalled(plugin) ? [] : [{ name: plugin, use: chosen }];
  });
}

function usesOf(choice: SpeechChoice) {
  return [
    { chosen: `for STT=${choice.stt}`, name: choice.stt, baseUrl: choice.sttBaseUrl },
    { chosen: `for TTS=${choice.tts}`, name: choice.tts, baseUrl: choice.ttsBaseUrl },
  ] as const;
}

/**
 * Loads the chosen providers. The caller closes them. Resolves to undefined if none can listen or speak (text only).
 */
export async function loadSpeech(choice: SpeechChoice, env: NodeJS.ProcessEnv): Promise<Speech | undefined> {
  const [ears, mouth] = [providerOf(choice.stt), providerOf(choice.tts)];
  const settings = { language: choice.sttLanguage, voice: choice.ttsVoice, env };
  const speaking = { ...settings, key: keyOf(mouth, choice), model: choice.ttsModel, baseUrl: choice.ttsBaseUrl };
  const [recognizer, synthesizer] = await Promise.all([
    ears.listen?.({ ...settings, key: keyOf(ears, choice), model: choice.sttModel, baseUrl: choice.sttBaseUrl }),
    mouth.speak?.(speaking),
  ]);
  if (!recognizer && !synthesizer) return undefined;
  // Without a listener, an `error` event would crash the process. AgentSession reports the error.
  recognizer?.on("error", () => {});
  const named = new Map<string, Promise<Synthesizer | undefined>>();
  const voiceNamed = (voice: string) => {
    const made = named.get(voice) ?? mouth.speak?.({ ...speaking, voice }) ?? Promise.resolve(undefined);
    named.set(voice, made);
    return made;
  };
  const close = async () => {
    const others = [...named.values()].map((made) => made.then((voice) => voice?.close()));
    await Promise.all([recognizer?.close(), synthesizer?.close(), ...others]);
  };
  return { stt: recognizer, synthesizer, voiceNamed, close };
}

function providerOf(name: SttName | TtsName): SpeechProvider {
  const provider = SPEECH_PROVIDERS.find((each) => each.name === name);
  if (!provider) throw new TypeError(`Unknown speech provider: ${name}`);
  return provider;
}

function keyOf({ key }: SpeechProvider, { keys }: SpeechChoice): string | undefined {
  return key === undefined ? undefined : keys[key];
}
