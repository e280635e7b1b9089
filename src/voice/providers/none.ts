import type { SpeechProvider } from "./speech-provider.ts";

/** No recogniser and no voice: no microphone is subscribed to, and no track is published. */
export const none = {
  name: "none",
  listen: async () => undefined,
  speak: async () => undefined,
} as const satisfies SpeechProvider;
