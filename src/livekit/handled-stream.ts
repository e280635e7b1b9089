import type { stt, tts } from "@livekit/agents";

interface Internals {
  queue: { readonly closed: boolean; put: (item: unknown) => void };
  run: () => Promise<unknown>;
  mainTask: () => Promise<unknown>;
}

/**
 * Calls `onFailed` when a plugin's stream fails, before the stream ends. By itself, a failed stream emits its error on
 * an object that many sessions share. A TTS stream also rejects a promise that nothing handles, which would end the
 * process, so `handled` replaces the private method that returns this promise. What the plugin sends after the end of
 * its stream is ignored; otherwise, an error in one of its timers or sockets would end the process as well. Call
 * `handled` right after creating the stream, before the stream calls these methods. Checked with @livekit/agents 1.9.0.
 */
export function handled<Stream extends tts.ChunkedStream | tts.SynthesizeStream | stt.SpeechStream>(
  stream: Stream,
  onFailed: (error: unknown) => void,
): Stream {
  const internals = stream as unknown as Internals;
  const run = internals.run.bind(stream);
  const runMainTask = internals.mainTask.bind(stream);
  internals.run = () => {
    // A ChunkedStream has another queue for each attempt.
    ignoreLate(internals.queue);
    return run();
  };
  internals.mainTask = () => runMainTask().catch(onFailed);
  return stream;
}

function ignoreLate(queue: Internals["queue"]): void {
  const put = queue.put.bind(queue);
  queue.put = (item) => {
    if (!queue.closed) put(item);
  };
}
