import { inference, voice } from "@livekit/agents";
import type { VoiceSettings } from "../voice-settings.ts";

/** After this much silence a participant is told of as silent; that is LiveKit's default. */
export const NOTICED_SILENCE_MS = 250;

/** How long after a participant's last sound the model begins to count silence: two of its windows, by measure. */
export const SILENCE_IS_LATE_MS = 64;

/** How long a voice must last to count as speech: the model's default, and one of its windows. */
const SPEECH_BEGINS_MS = 50;
const SPEECH_GOES_ON_MS = 32;

/** The model that finds out from the sound when a participant speaks. */
export function voiceActivity({ endOfTurn }: VoiceSettings): inference.VAD {
  // LiveKit's end-of-turn model listens to the silence, and AgentSession insists that 250 ms of it are counted.
  const lateMs = endOfTurn === "model" ? 0 : SILENCE_IS_LATE_MS;
  const minSilenceDuration = NOTICED_SILENCE_MS - lateMs;
  return new inference.VAD({ model: "silero", minSilenceDuration, minSpeechDuration: SPEECH_BEGINS_MS });
}

/**
 * Makes a participant who goes on within `endOfTurnMs` be noticed one window sooner than one who begins, so that an
 * utterance is not taken for complete while it goes on.
 */
export function quickenAfterPauses(
  session: voice.AgentSession,
  vad: inference.VAD,
  { endOfTurnMs }: Pick<VoiceSettings, "endOfTurnMs">,
): void {
  let timer: NodeJS.Timeout | undefined;
  const begin = () => vad.updateOptions({ minSpeechDuration: SPEECH_BEGINS_MS });
  session.on(voice.AgentSessionEventTypes.UserStateChanged, ({ newState }) => {
    clearTimeout(timer);
    if (newState !== "listening") return begin();
    vad.updateOptions({ minSpeechDuration: SPEECH_GOES_ON_MS });
    timer = setTimeout(begin, endOfTurnMs);
  });
  session.on(voice.AgentSessionEventTypes.Close, () => clearTimeout(timer));
}
