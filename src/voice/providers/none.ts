import type { SpeechProvider } from "./speech-provider.ts";

/** No recognizer (`STT`) or no voice (`TTS`). The agent then subscribes to no microphones, or publishes no track. */
export const none = {
  name: "none",
  listen: async () => undefined,
  speak: async () => undefined,
} as const satisfies SpeechProvider;
