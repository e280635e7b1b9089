import { type SpeechProvider } from "./speech-provider.ts";

/** A voice that needs no network and no key; it does not listen. */
export const espeak = {
  name: "espeak",
  speak: async ({ voice, env }) => {
    // Loaded only now: it makes LiveKit's audio frames, whose package is a native library.
    const { EspeakSynthesizer, findEspeak } = await import("./espeak/espeak-synthesizer.ts");
    const found = await findEspeak(env);
    return found && new EspeakSynthesizer(found, voice);
  },
} as const satisfies SpeechProvider;
