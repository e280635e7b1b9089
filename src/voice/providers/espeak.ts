import type { SpeechProvider } from "./speech-provider.ts";

/** espeak-ng needs no network and no key. It cannot listen. */
export const espeak = {
  name: "espeak",
  speak: async ({ voice, env }) => {
    // Imported only if needed, because it loads @livekit/rtc-node, a native library.
    const { EspeakSynthesizer, findEspeak } = await import("./espeak/espeak-synthesizer.ts");
    const found = await findEspeak(env);
    return found && new EspeakSynthesizer(found, voice);
  },
} as const satisfies SpeechProvider;
