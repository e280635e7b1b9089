/** What the model reads of a call that goes on without its turn, in place of a result. */
export const STILL_RUNNING = "Still running. Its outcome will be reported when it arrives.";

/** The same of one that has not begun: nobody has allowed it yet. */
export const STILL_WAITING = "Waiting for the participant's permission. Its outcome will be reported when it arrives.";

/** The answer to a call of a tool that runs in the background. */
export function backgroundReceipt(callId: string): string {
  return `Started in the background (call ${callId}). Its result will be reported when it arrives.`;
}

/** Whether a result that the model was given is only the promise of one. */
export function isReceipt(content: unknown): boolean {
  if (typeof content !== "string") return false;
  if (content === STILL_RUNNING || content === STILL_WAITING) return true;
  return /^Started in the background \(call [\w-]+\)\. Its result will /u.test(content);
}
