import { espeak } from "./espeak.ts";
import type { SpeechProvider } from "./speech-provider.ts";

/**
 * Models on this machine, for English. They need no key and, once downloaded, no network. espeak-ng speaks other
 * languages.
 */
export const embedded = {
  name: "embedded",
  modelMb: 450,
  fetch: async (use, env) => {
    const { prepareSpeech } = await import("./embedded/prepare-speech.ts");
    await prepareSpeech(use, env);
  },
  listen: async ({ env }) => {
    const { EmbeddedRecognizer } = await import("./embedded/embedded-recognizer.ts");
    return EmbeddedRecognizer.load(env);
  },
  speak: async (settings) => {
    const { EmbeddedVoice } = await import("./embedded/embedded-voice.ts");
    return EmbeddedVoice.load(settings.env, await espeak.speak({ ...settings, voice: undefined }));
  },
} as const satisfies SpeechProvider;
