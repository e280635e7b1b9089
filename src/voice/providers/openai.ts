import { PluginSynthesizer } from "./plugin-synthesizer.ts";
import { defined, type SpeechProvider } from "./speech-provider.ts";

/** OpenAI, or any server with an OpenAI-compatible API. */
export const openai = {
  name: "openai",
  package: "@livekit/agents-plugin-openai",
  key: "OPENAI_API_KEY",
  hasBaseUrl: true,
  listen: async ({ key = "none", model, language, baseUrl: baseURL }) => {
    const { STT } = await import("@livekit/agents-plugin-openai");
    // The plugin uses a websocket by default, which compatible servers do not support.
    return new STT({ apiKey: key, useRealtime: false, ...defined({ baseURL, model, language }) });
  },
  speak: async ({ key = "none", model, voice, baseUrl: baseURL }) => {
    const { TTS } = await import("@livekit/agents-plugin-openai");
    // The plugin's types allow only OpenAI's own voices, but other servers have other voices.
    const options = { apiKey: key, ...defined({ baseURL, model, voice }) } as ConstructorParameters<typeof TTS>[0];
    return new PluginSynthesizer(new TTS(options));
  },
} as const satisfies SpeechProvider;
