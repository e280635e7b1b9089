import type { tts } from "@livekit/agents";

/**
 * Calls `onFailed` when a TTS stream fails, before the stream ends. By itself, a failed stream emits its error on a TTS
 * object that many sessions share. It also rejects a promise that nothing handles, which would end the process, so
 * `handled` replaces the private method that returns this promise. Call `handled` right after creating the stream,
 * before the stream calls that method. Checked with @livekit/agents 1.9.0.
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
