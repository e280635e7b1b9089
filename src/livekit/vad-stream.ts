import { type VADEvent, VADEventType, type VADStream } from "@livekit/agents";
import { copyFrame } from "./audio-frame.ts";

interface VadOptions {
  minSpeechDuration: number;
}

/**
 * Makes the minimum length of speech adjustable after each event, for this stream only. The public `updateOptions`
 * changes all streams of the model, and copies a minute of audio for each. Also copies the audio of each utterance,
 * because the stream may overwrite it with the next utterance before it has been read. Checked with @livekit/agents
 * 1.9.0.
 *
 * @param minSpeechMs returns the new minimum after an event, or `undefined` to leave it unchanged
 */
export function adjustVadStream(stream: VADStream, minSpeechMs: (event: VADEvent) => number | undefined): VADStream {
  const options = Reflect.get(stream, "_opts") as VadOptions;
  const send = stream["sendVADEvent"].bind(stream);
  stream["sendVADEvent"] = (event: VADEvent) => {
    options.minSpeechDuration = minSpeechMs(event) ?? options.minSpeechDuration;
    return send(event.type === VADEventType.END_OF_SPEECH ? { ...event, frames: event.frames.map(copyFrame) } : event);
  };
  return stream;
}
