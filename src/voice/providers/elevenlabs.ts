import { PluginSynthesizer } from "./plugin-synthesizer.ts";
import { defined, type SpeechProvider } from "./speech-provider.ts";

export const elevenlabs = {
  name: "elevenlabs",
  package: "@livekit/agents-plugin-elevenlabs",
  key: "ELEVEN_API_KEY",
  listen: async ({ key = "", model, language: languageCode }) => {
    const { STT } = await import("@livekit/agents-plugin-elevenlabs");
    return new STT({ apiKey: key, ...defined({ model, languageCode }) });
  },
  speak: async ({ key = "", model, voice: voiceId }) => {
    const { TTS } = await import("@livekit/agents-plugin-elevenlabs");
    // Request word times for the text as written, not for the normalized text, in which numbers are spelled out.
    const preferredAlignment = "original";
    return new PluginSynthesizer(new TTS({ apiKey: key, preferredAlignment, ...defined({ model, voiceId }) }));
  },
} as const satisfies SpeechProvider;
