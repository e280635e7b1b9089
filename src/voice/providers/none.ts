import { type SpeechProvider } from "./speech-provider.ts";

/** Nobody: no microphone is subscribed to, no track is published. */
export const none = {
  name: "none",
  listen: async () => undefined,
  speak: async () => undefined,
} as const satisfies SpeechProvider;
