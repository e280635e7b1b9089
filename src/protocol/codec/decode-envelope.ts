import { readFields } from "../messages/fields.ts";
import { checkPacket } from "./check-packet.ts";
import { type Incoming, readEnvelope, readParts, toMalformed } from "./codec.ts";
import { peekEnvelope } from "./peek.ts";
import { rememberKeys } from "./remember-keys.ts";
import { unpack } from "./unpack.ts";

/**
 * Reads one packet from any sender. Every value in the answer is a copy, and PostgreSQL can store it.
 *
 * @throws {MalformedMessageError} `malformed` or `too_large`, with what could be read; never anything else
 */
export function decodeEnvelope(bytes: Uint8Array): Incoming {
  return readEnvelope(decodePacket(bytes));
}

/**
 * Decodes a packet from any sender, and checks no more than the format. The packet's size bounds the cost. What it makes
 * may share the packet's bytes.
 *
 * @throws {AppError} `malformed` or `too_large`
 */
export function unpackPacket(bytes: Uint8Array): Record<string, unknown> {
  checkPacket(bytes);
  return unpack(bytes, rememberKeys()).root;
}

function decodePacket(bytes: Uint8Array): Record<string, unknown> {
  try {
    return unpackPacket(bytes);
  } catch (error) {
    const peeked = peekEnvelope(bytes);
    throw toMalformed(error, readParts(readFields(peeked), peeked["body"]));
  }
}
