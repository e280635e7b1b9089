import { readFields } from "../messages/fields.ts";
import { MalformedMessageError } from "../messages/parse-message.ts";
import { checkPacket } from "./check-packet.ts";
import { type Incoming, readEnvelope, readParts, toMalformed } from "./codec.ts";
import { PacketBudget } from "./packet-budget.ts";
import { peekEnvelope } from "./peek.ts";
import { rememberKeys } from "./remember-keys.ts";
import { nameUnreadable, unpackToolsIndividually } from "./unpack-tools-individually.ts";
import { unpack } from "./unpack.ts";

/**
 * Decodes a packet from an untrusted sender. Every value in the result is a copy that PostgreSQL can store.
 *
 * @throws {MalformedMessageError} `malformed` or `too_large`, with the parts that could be read; never throws anything
 *   else
 */
export function decodeEnvelope(bytes: Uint8Array): Incoming {
  try {
    return readEnvelope(unpackPacket(bytes));
  } catch (error) {
    // An invalid tool in a Configuration must not make the other tools unusable.
    const apart = error instanceof MalformedMessageError ? undefined : unpackToolsIndividually(bytes, unpackPacket);
    if (!apart) throw toRefusal(error, bytes);
    const incoming = readEnvelope(apart.root);
    if (!("message" in incoming) || incoming.message.type !== "configuration") return incoming;
    return {
      ...incoming,
      message: { type: "configuration", body: nameUnreadable(incoming.message.body, apart.faults) },
    };
  }
}

/**
 * Decodes a packet from an untrusted sender, checking only the format. The cost is bounded by the packet's size. The
 * result may share the packet's bytes.
 *
 * @param budget what the packet may contain; reduced by what was read. @defaultValue the limits of a packet
 * @throws {AppError} `malformed` or `too_large`
 */
export function unpackPacket(bytes: Uint8Array, budget = new PacketBudget()): Record<string, unknown> {
  checkPacket(bytes, budget);
  const keys = new Set(budget.keys);
  const { root } = unpack(bytes, rememberKeys(keys));
  budget.keys = keys;
  return root;
}

function toRefusal(error: unknown, bytes: Uint8Array): MalformedMessageError {
  if (error instanceof MalformedMessageError) return error;
  const peeked = peekEnvelope(bytes);
  return toMalformed(error, readParts(readFields(peeked), peeked["body"]));
}
