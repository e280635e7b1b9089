import { abortable } from "../../lib/abortable.ts";
import type { OpenCall } from "../../tool/calls/call-ledger.ts";
import type { CallTurn } from "../../tool/calls/call-ports.ts";
import type { StartWhen } from "../../tool/talk-behavior.ts";
import type { VoicePort } from "../room/voice-port.ts";

interface StartGate {
  readonly voice: VoicePort;
  readonly startWhen: StartWhen;
}

/**
 * Resolves when a call may start beside a voice: when the participant is silent. It may be saying the rest of its
 * question; then the turn is aborted, and the call has never run.
 *
 * @throws the reason of `call.over`, when the call ends before
 */
export async function untilMayStart(
  { over }: OpenCall,
  { speech }: CallTurn,
  { voice, startWhen }: StartGate,
): Promise<void> {
  if (startWhen === "words_spoken" && speech) await abortable(speech.untilHeard(), over);
  await voice.untilQuiet(over);
}
