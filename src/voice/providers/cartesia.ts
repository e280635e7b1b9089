import { PluginSynthesizer } from "./plugin-synthesizer.ts";
import { defined, type SpeechProvider } from "./speech-provider.ts";

export const cartesia = {
  name: "cartesia",
  package: "@livekit/agents-plugin-cartesia",
  key: "CARTESIA_API_KEY",
  listen: async ({ key = "", model, language }) => {
    const { STT } = await import("@livekit/agents-plugin-cartesia");
    return new STT({ apiKey: key, ...defined({ model, language }) });
  },
  speak: async ({ key = "", model, voice }) => {
    const { TTS } = await import("@livekit/agents-plugin-cartesia");
    return new PluginSynthesizer(new TTS({ apiKey: key, ...defined({ model, voice }) }));
  },
} as const satisfies SpeechProvider;
