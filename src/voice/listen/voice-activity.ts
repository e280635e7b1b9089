import { inference, VADEventType, type VADEvent, type VADStream } from "@livekit/agents";
import { AudioFrame } from "@livekit/rtc-node";
import type { VoiceSettings } from "../voice-settings.ts";

/** After this much silence a participant is told of as silent; that is LiveKit's default. */
export const NOTICED_SILENCE_MS = 250;

/** How long after a participant's last sound the model begins to count silence: two of its windows, by measure. */
export const SILENCE_IS_LATE_MS = 64;

/**
 * How much of the silence before a voice goes to a recogniser that is asked per utterance. Those make words of half a
 * second of it, which is the model's default.
 */
const LEAD_IN_MS = 100;

/** How long a voice must last to count as speech: the model's default, and one of its windows. */
const SPEECH_BEGINS_MS = 50;
const SPEECH_GOES_ON_MS = 32;

/**
 * The model that finds out from the sound when a participant speaks. One who goes on within `endOfTurnMs` is noticed a
 * window sooner than one who begins, so that an utterance is not taken for complete while it goes on.
 */
export class VoiceActivity extends inference.VAD {
  readonly #endOfTurnMs: number;

  constructor({ endOfTurn, endOfTurnMs }: Pick<VoiceSettings, "endOfTurn" | "endOfTurnMs">) {
    // LiveKit's end-of-turn model listens to the silence, and AgentSession insists that 250 ms of it are counted.
    const lateMs = endOfTurn === "model" ? 0 : SILENCE_IS_LATE_MS;
    const minSilenceDuration = NOTICED_SILENCE_MS - lateMs;
    super({
      model: "silero",
      minSilenceDuration,
      minSpeechDuration: SPEECH_BEGINS_MS,
      prefixPaddingDuration: LEAD_IN_MS,
    });
    this.#endOfTurnMs = endOfTurnMs;
  }

  /**
   * Sets the stream's own option while the stream tells of a pause. `updateOptions` would do it for all streams, and
   * copy a minute of sound for each. An utterance is copied, because the stream writes the beginning of the next one
   * over it before it is read. Checked with @livekit/agents 1.9.0.
   */
  override stream(): VADStream {
    const stream = super.stream();
    const options = Reflect.get(stream, "_opts") as { minSpeechDuration: number };
    const send = stream["sendVADEvent"].bind(stream);
    stream["sendVADEvent"] = (event: VADEvent) => {
      const { type, silenceDuration } = event;
      if (type === VADEventType.END_OF_SPEECH) options.minSpeechDuration = SPEECH_GOES_ON_MS;
      else if (silenceDuration > this.#endOfTurnMs) options.minSpeechDuration = SPEECH_BEGINS_MS;
      return send(type === VADEventType.END_OF_SPEECH ? { ...event, frames: event.frames.map(copied) } : event);
    };
    return stream;
  }
}

function copied({ data, sampleRate, channels, samplesPerChannel }: AudioFrame): AudioFrame {
  return new AudioFrame(data.slice(), sampleRate, channels, samplesPerChannel);
}
