import { type tts } from "@livekit/agents";

/**
 * A stream of speech that fails emits its error, which is listened to, and also rejects a promise of its own that nobody
 * has: that would end the process. It is begun a moment after the stream was made, by a private method which is replaced
 * here in time. Checked with @livekit/agents 1.9.0.
 */
export function handled(stream: tts.ChunkedStream): tts.ChunkedStream {
  const run = stream["mainTask"].bind(stream);
  stream["mainTask"] = () => run().catch(() => {});
  return stream;
}
