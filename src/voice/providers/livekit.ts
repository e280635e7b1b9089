import { PluginSynthesizer } from "./plugin-synthesizer.ts";
import { given, type SpeechProvider } from "./speech-provider.ts";

/** LiveKit Inference, with the keys by which the worker is connected to LiveKit Cloud. */
export const livekit = {
  name: "livekit",
  isOfLivekitCloud: true,
  listen: async ({ model, language }) => {
    const { inference } = await import("@livekit/agents");
    return new inference.STT(given({ model, language }));
  },
  speak: async ({ model = "cartesia/sonic-3", voice }) => {
    const { inference } = await import("@livekit/agents");
    return new PluginSynthesizer(new inference.TTS({ model, ...given({ voice }) }));
  },
} as const satisfies SpeechProvider;
