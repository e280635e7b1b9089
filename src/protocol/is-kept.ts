import { type Message } from "./messages/messages.ts";

/**
 * Whether the worker holds a message for clients that come back. What shows an answer while it is made is not held: it
 * would push out what they need, and its end says all of it.
 */
export function isKept({ type, body }: Message): boolean {
  switch (type) {
    case "block_event":
      return false;
    case "transcription":
      return body.final;
    case "tool_call_state":
      return body.status !== "pending" && body.status !== "running";
    default:
      return true;
  }
}
