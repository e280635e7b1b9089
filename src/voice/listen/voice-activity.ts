import { inference, type VADEvent, VADEventType, type VADStream } from "@livekit/agents";
import { adjustVadStream } from "../../livekit/vad-stream.ts";

/** After this much silence, a participant is reported as silent. This is LiveKit's default. */
export const NOTICED_SILENCE_MS = 250;

/** How long after a participant's last sound the model starts counting silence: two of its windows, as measured. */
export const SILENCE_DELAY_MS = 64;

/**
 * How much of the silence before speech a recognizer for single utterances receives. The model's default is half a
 * second, and with that much silence such recognizers make up words.
 */
const LEAD_IN_MS = 100;

/**
 * How long sound must last to count as speech. At first, this is the model's default; after a short pause, it is one of
 * the model's windows.
 */
const MIN_SPEECH_MS = 50;
const MIN_RESUMED_SPEECH_MS = 32;

interface VoiceActivityOptions {
  /** Speech that follows a shorter silence continues the turn. */
  readonly endOfTurnMs: number;
  /** How much of the silence before speech is passed to the recognizer, in ms. */
  readonly leadInMs?: number;
  /** Called with each event of a stream before the stream passes it on. */
  readonly onEvent?: (event: VADEvent) => void;
}

/**
 * The model that detects speech in the audio. It detects speech one window sooner if a participant continues within
 * `endOfTurnMs`, so that the current utterance is not completed too early.
 */
export class VoiceActivity extends inference.VAD {
  readonly #options: VoiceActivityOptions;

  constructor(options: VoiceActivityOptions) {
    super({
      model: "silero",
      minSilenceDuration: NOTICED_SILENCE_MS - SILENCE_DELAY_MS,
      minSpeechDuration: MIN_SPEECH_MS,
      prefixPaddingDuration: options.leadInMs ?? LEAD_IN_MS,
    });
    this.#options = options;
  }

  /** Returns a stream that requires less sound to detect speech after a short pause than at first. */
  override stream(): VADStream {
    const { endOfTurnMs, onEvent } = this.#options;
    return adjustVadStream(super.stream(), (event) => {
      onEvent?.(event);
      if (event.type === VADEventType.END_OF_SPEECH) return MIN_RESUMED_SPEECH_MS;
      return event.silenceDuration > endOfTurnMs ? MIN_SPEECH_MS : undefined;
    });
  }
}
