import { AppError } from "../../errors/app-error.ts";
import { decodeEnvelope } from "../../protocol/codec/codec.ts";
import { type Outbox } from "../wire/outbox.ts";

/**
 * Tells all who may have sent a packet that its sender is not known. Only the one that did knows the id, and sends it
 * again; a packet without an id is repeated when its Ack does not come.
 */
export function askAgain(candidates: readonly string[], bytes: Uint8Array, outbox: Pick<Outbox, "postError">): void {
  const id = idOf(bytes);
  if (id === undefined) return;
  const error = new AppError("unavailable", "Its sender could not be told from others who joined: send it again");
  for (const identity of candidates) outbox.postError(error, identity, id);
}

function idOf(bytes: Uint8Array): string | undefined {
  try {
    const incoming = decodeEnvelope(bytes);
    if (!("message" in incoming)) return incoming.id;
    const { type, body } = incoming.message;
    return "id" in body && type !== "error_message" ? body.id : undefined;
  } catch {
    return undefined;
  }
}
