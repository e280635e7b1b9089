import type { tts } from "@livekit/agents";

/**
 * Tells why a stream of speech has failed, before it ends. Besides emitting its error, at a voice that many sessions
 * share, it rejects a promise that nothing handles, which would end the process. The private method that returns this
 * promise is called a moment after the stream was made, so it can be replaced here; call this at once. Checked with
 * @livekit/agents 1.9.0.
 */
export function handled<Stream extends tts.ChunkedStream | tts.SynthesizeStream>(
  stream: Stream,
  onFailed: (error: unknown) => void,
): Stream {
  const internals = stream as unknown as { mainTask: () => Promise<unknown> };
  const run = internals.mainTask.bind(stream);
  internals.mainTask = () => run().catch(onFailed);
  return stream;
}
