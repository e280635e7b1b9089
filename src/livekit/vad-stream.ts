import { type VADEvent, VADEventType, type VADStream } from "@livekit/agents";
import { AudioFrame } from "@livekit/rtc-node";

interface VadOptions {
  minSpeechDuration: number;
}

/**
 * Changes how long a voice must last to count as speech, for this stream alone and while it runs. The public
 * `updateOptions` changes all streams of the model, and copies a minute of sound for each. Also copies the sound of each
 * utterance, because the stream writes the beginning of the next one over it before anybody has read it. Checked with
 * @livekit/agents 1.9.0.
 *
 * @param minSpeechMs gives the new length after an event; `undefined` leaves it as it is
 */
export function adjustVadStream(stream: VADStream, minSpeechMs: (event: VADEvent) => number | undefined): VADStream {
  const options = Reflect.get(stream, "_opts") as VadOptions;
  const send = stream["sendVADEvent"].bind(stream);
  stream["sendVADEvent"] = (event: VADEvent) => {
    options.minSpeechDuration = minSpeechMs(event) ?? options.minSpeechDuration;
    return send(event.type === VADEventType.END_OF_SPEECH ? { ...event, frames: event.frames.map(copied) } : event);
  };
  return stream;
}

function copied({ data, sampleRate, channels, samplesPerChannel }: AudioFrame): AudioFrame {
  return new AudioFrame(data.slice(), sampleRate, channels, samplesPerChannel);
}
