import { espeak } from "./espeak.ts";
import type { SpeechProvider } from "./speech-provider.ts";

/**
 * Models on this machine, for English. They need no key and, once downloaded, no network. espeak-ng speaks other
 * languages.
 */
export const embedded = {
  name: "embedded",
  listen: async ({ env }) => {
    const { EmbeddedRecognizer } = await import("./embedded/embedded-recognizer.ts");
    return EmbeddedRecognizer.load(env);
  },
  speak: async (settings) => {
    const { EmbeddedVoice } = await import("./embedded/embedded-voice.ts");
    return EmbeddedVoice.load(settings.env, await espeak.speak({ ...settings, voice: undefined }));
  },
} as const satisfies SpeechProvider;
