import { inference, VADEventType, type VADStream } from "@livekit/agents";
import { adjustVadStream } from "../../livekit/vad-stream.ts";
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

  /** One who goes on after a pause counts as speaking sooner than one who begins. */
  override stream(): VADStream {
    return adjustVadStream(super.stream(), ({ type, silenceDuration }) => {
      if (type === VADEventType.END_OF_SPEECH) return SPEECH_GOES_ON_MS;
      return silenceDuration > this.#endOfTurnMs ? SPEECH_BEGINS_MS : undefined;
    });
  }
}
