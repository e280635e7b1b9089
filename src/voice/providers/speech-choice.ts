import { isInstalled } from "./is-installed.ts";

export const STT_NAMES = ["none", "livekit", "deepgram", "openai", "cartesia", "elevenlabs"] as const;
export const TTS_NAMES = ["espeak", ...STT_NAMES] as const;
export type SttName = (typeof STT_NAMES)[number];
export type TtsName = (typeof TTS_NAMES)[number];

/** Who listens and who speaks, and what they need to do it. */
export interface SpeechChoice {
  readonly stt: SttName;
  readonly sttModel: string | undefined;
  readonly sttLanguage: string | undefined;
  readonly sttBaseUrl: string | undefined;
  readonly tts: TtsName;
  readonly ttsModel: string | undefined;
  readonly ttsVoice: string | undefined;
  readonly ttsBaseUrl: string | undefined;
  readonly keys: Readonly<Record<KeyName, string | undefined>>;
  /** LiveKit Inference is LiveKit Cloud's: a server that we start has none. */
  readonly hasOwnLivekit: boolean;
}

type KeyName = "DEEPGRAM_API_KEY" | "OPENAI_API_KEY" | "CARTESIA_API_KEY" | "ELEVEN_API_KEY";

interface Provider {
  readonly package: string;
  readonly key: KeyName;
}

const PROVIDERS = {
  deepgram: { package: "@livekit/agents-plugin-deepgram", key: "DEEPGRAM_API_KEY" },
  openai: { package: "@livekit/agents-plugin-openai", key: "OPENAI_API_KEY" },
  cartesia: { package: "@livekit/agents-plugin-cartesia", key: "CARTESIA_API_KEY" },
  elevenlabs: { package: "@livekit/agents-plugin-elevenlabs", key: "ELEVEN_API_KEY" },
} as const satisfies Record<string, Provider>;

/** What the chosen ones lack, a line each; nothing when they can be used. */
export function missingSpeech(choice: SpeechChoice): string[] {
  const uses = [
    { variable: "STT", name: choice.stt, baseUrl: choice.sttBaseUrl },
    { variable: "TTS", name: choice.tts, baseUrl: choice.ttsBaseUrl },
  ] as const;
  return uses.flatMap(({ variable, name, baseUrl }) => {
    if (name === "none" || name === "espeak") return [];
    const chosen = `for ${variable}=${name}`;
    if (name === "livekit")
      return choice.hasOwnLivekit
        ? [`LIVEKIT_URL: an address of LiveKit Cloud, whose inference is meant ${chosen}`]
        : [];
    const { package: plugin, key } = PROVIDERS[name];
    const needsKey = choice.keys[key] === undefined && !(name === "openai" && baseUrl !== undefined);
    return [
      ...(needsKey ? [`${key}: a key ${chosen}`] : []),
      ...(isInstalled(plugin) ? [] : [`the package ${plugin} ${chosen}: npm install ${plugin}`]),
    ];
  });
}
