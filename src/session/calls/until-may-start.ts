import { abortable } from "../../lib/abortable.ts";
import type { OpenCall } from "../../tool/calls/call-ledger.ts";
import type { CallTurn } from "../../tool/calls/call-ports.ts";
import type { StartWhen } from "../../tool/pacing.ts";
import type { VoicePort } from "../room/voice-port.ts";

interface StartGate {
  readonly voice: VoicePort;
  readonly startWhen: StartWhen;
}

/**
 * Resolves when a call may start in a spoken turn: once the participant is silent and, with `words_spoken`, the answer
 * so far has been played. If the participant keeps speaking, the turn is aborted before the call runs.
 *
 * @throws the reason of `call.signal`, if the call ends first
 */
export async function untilMayStart(
  { signal }: OpenCall,
  { speech }: CallTurn,
  { voice, startWhen }: StartGate,
): Promise<void> {
  if (startWhen === "words_spoken" && speech) await abortable(speech.untilPlayed(), signal);
  await voice.untilQuiet(signal);
}
