import { PluginSynthesizer } from "./plugin-synthesizer.ts";
import { defined, type SpeechProvider } from "./speech-provider.ts";

export const deepgram = {
  name: "deepgram",
  package: "@livekit/agents-plugin-deepgram",
  key: "DEEPGRAM_API_KEY",
  listen: async ({ key = "", model, language }) => {
    const { STT } = await import("@livekit/agents-plugin-deepgram");
    return new STT({ apiKey: key, ...defined({ model, language }) });
  },
  /** Deepgram has no separate voices: the model is the voice. */
  speak: async ({ key = "", model }) => {
    const { TTS } = await import("@livekit/agents-plugin-deepgram");
    return new PluginSynthesizer(new TTS({ apiKey: key, ...defined({ model }) }));
  },
} as const satisfies SpeechProvider;
