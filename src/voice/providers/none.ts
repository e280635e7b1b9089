import type { SpeechProvider } from "./speech-provider.ts";

/** No recognizer or no voice: the agent subscribes to no microphones or publishes no track. */
export const none = {
  name: "none",
  listen: async () => undefined,
  speak: async () => undefined,
} as const satisfies SpeechProvider;
