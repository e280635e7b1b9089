import { abortable } from "../../lib/abortable.ts";
import { type OpenCall } from "../../tool/calls/call-ledger.ts";
import { type CallTurn } from "../../tool/calls/call-ports.ts";
import { type StartWhen } from "../../tool/talk-behavior.ts";
import { type VoicePort } from "../room/voice-port.ts";

/**
 * Resolves when a call may start: without a voice at once, else when the participant is silent. It may be saying the
 * rest of its question; then the turn is aborted, and the call has never run.
 *
 * @throws the reason of `call.over`, when the call ends before
 */
export async function untilMayStart(
  { over }: OpenCall,
  { speech }: CallTurn,
  { voice, startWhen }: { readonly voice: VoicePort | undefined; readonly startWhen: StartWhen },
): Promise<void> {
  if (!voice) return;
  if (startWhen === "words_spoken" && speech) await abortable(speech.untilHeard(), over);
  await voice.untilQuiet(over);
}
