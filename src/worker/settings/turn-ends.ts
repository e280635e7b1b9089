import { hasEndOfTurnModel } from "../../speech/turn-end/end-of-turn-model.ts";
import { endOfTurnOf } from "../../voice/voice-settings.ts";
import type { Config } from "../config.ts";

/** Whether this worker judges at a pause if a participant has finished. The model exists for the usual machines only. */
export function judgesTurnEnds({ speech, voice }: Pick<Config, "speech" | "voice">): boolean {
  const listens = voice.listen !== undefined || speech.stt !== "none";
  return listens && hasEndOfTurnModel() && endOfTurnOf(voice, true).isJudged;
}
