import type { tts } from "@livekit/agents";

/**
 * Keeps a stream of speech that fails from ending the process: besides emitting its error it rejects a promise that
 * nothing handles. The private method that returns this promise is called a moment after the stream was made, so it can
 * be replaced here; call this at once. Checked with @livekit/agents 1.9.0.
 */
export function handled(stream: tts.ChunkedStream): tts.ChunkedStream {
  const run = stream["mainTask"].bind(stream);
  stream["mainTask"] = () => run().catch(() => {});
  return stream;
}
