import type { Peers } from "./peers.ts";
import type { VoicePort } from "../room/voice-port.ts";

/** A voice that says nothing while every participant in the room has its sound off: answers are text then. */
export function forListeners(voice: VoicePort, peers: Pick<Peers, "hasListener">): VoicePort {
  return {
    isTwoWay: voice.isTwoWay,
    listens: voice.listens,
    speaks: voice.speaks,
    open: (answer) => (peers.hasListener ? voice.open(answer) : undefined),
    prepare: (sentence, language) => (peers.hasListener ? voice.prepare(sentence, language) : () => {}),
    untilQuiet: (signal) => voice.untilQuiet(signal),
    setInterruptible: (isInterruptible) => voice.setInterruptible(isInterruptible),
  };
}
