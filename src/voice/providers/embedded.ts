import type { SpeechProvider } from "./speech-provider.ts";

/** Moonshine on this machine: English, without a key and without a network. */
export const embedded = {
  name: "embedded",
  listen: async ({ env }) => {
    const { EmbeddedRecognizer } = await import("./embedded/embedded-recognizer.ts");
    return EmbeddedRecognizer.load(env);
  },
} as const satisfies SpeechProvider;
