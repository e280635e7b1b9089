import type { Logger } from "pino";
import type { Participants } from "./participants.ts";
import type { VoicePort } from "../room/voice-port.ts";

/**
 * Wraps a voice so that answers are text while every participant in the room has the agent's audio turned off. If the
 * voice fails to open an answer, that answer is text too.
 */
export function speakOnlyToListeners(
  voice: VoicePort,
  participants: Pick<Participants, "hasListener">,
  logger: Pick<Logger, "error">,
): VoicePort {
  const open: VoicePort["open"] = (answer) => {
    try {
      return voice.open(answer);
    } catch (error) {
      logger.error({ error }, "voice failed, answering in text");
      return undefined;
    }
  };
  return {
    isTwoWay: voice.isTwoWay,
    listens: voice.listens,
    speaks: voice.speaks,
    hasManualTurns: voice.hasManualTurns,
    open: (answer) => (participants.hasListener ? open(answer) : undefined),
    prepare: (sentence, language) => (participants.hasListener ? voice.prepare(sentence, language) : () => {}),
    untilQuiet: (signal) => voice.untilQuiet(signal),
    setInterruptible: (isInterruptible) => voice.setInterruptible(isInterruptible),
  };
}
