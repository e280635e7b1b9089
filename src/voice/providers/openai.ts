import { PluginSynthesizer } from "./plugin-synthesizer.ts";
import { defined, type SpeechProvider } from "./speech-provider.ts";

/** OpenAI, or any server that has OpenAI's API. */
export const openai = {
  name: "openai",
  package: "@livekit/agents-plugin-openai",
  key: "OPENAI_API_KEY",
  hasBaseUrl: true,
  listen: async ({ key = "none", model, language, baseUrl: baseURL }) => {
    const { STT } = await import("@livekit/agents-plugin-openai");
    // The plugin's default is a websocket, which compatible servers do not have.
    return new STT({ apiKey: key, useRealtime: false, ...defined({ baseURL, model, language }) });
  },
  speak: async ({ key = "none", model, voice, baseUrl: baseURL }) => {
    const { TTS } = await import("@livekit/agents-plugin-openai");
    // The plugin's types allow only OpenAI's own voices.
    const options = { apiKey: key, ...defined({ baseURL, model, voice }) } as ConstructorParameters<typeof TTS>[0];
    return new PluginSynthesizer(new TTS(options));
  },
} as const satisfies SpeechProvider;
