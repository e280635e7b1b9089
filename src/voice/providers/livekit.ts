import { PluginSynthesizer } from "./plugin-synthesizer.ts";
import { defined, type SpeechProvider } from "./speech-provider.ts";

/** Declared explicitly, because the inferred type would need names that @livekit/agents does not export. */
type Livekit = Required<Pick<SpeechProvider, "listen" | "speak">> & {
  readonly name: "livekit";
  readonly needsLivekitCloud: true;
};

/** LiveKit Inference. It uses the keys that connect the worker to LiveKit Cloud. */
export const livekit: Livekit = {
  name: "livekit",
  needsLivekitCloud: true,
  listen: async ({ model, language }) => {
    const { inference } = await import("@livekit/agents");
    return new inference.STT(defined({ model, language }));
  },
  speak: async ({ model = "cartesia/sonic-3", voice }) => {
    const { inference } = await import("@livekit/agents");
    return new PluginSynthesizer(new inference.TTS({ model, ...defined({ voice }) }));
  },
};
