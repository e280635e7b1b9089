import { createInterface } from "node:readline";
import { toAppError } from "../errors/app-error.ts";
import { isRecord } from "../lib/json.ts";
import { decodeEnvelope, encodeEnvelope } from "../protocol/codec/codec.ts";
import { isPlainMap } from "../protocol/messages/fields.ts";
import { MESSAGES, type MessageType, messageTypeOf } from "../protocol/messages/messages.ts";
import { parseMessage } from "../protocol/messages/parse-message.ts";

export const PACKETS_USAGE = `Usage: npm run -s parley -- decode < packets.txt     one packet a line, hex or base64, to one line of JSON each
       npm run -s parley -- encode < messages.jsonl  one {"stanzaId","conversationId","type","meta","body"} a line, to hex`;

/** Turns one packet in hex or base64 into one line of JSON; a line that is no packet into `{"error": …}`. */
export function decodePacketLine(line: string): string {
  return toLine(() => {
    const incoming = decodeEnvelope(toBytes(line));
    if (!("message" in incoming)) return JSON.stringify(incoming);
    const { message, ...envelope } = incoming;
    return JSON.stringify({ ...envelope, type: message.type, body: message.body });
  });
}

/** Turns one line of JSON into a packet in hex. `type` is a name or a number; `meta` and `body` may be absent. */
export function encodePacketLine(line: string): string {
  return toLine(() => {
    const { stanzaId, conversationId, type, meta = {}, body = {} } = parseLine(line);
    if (typeof stanzaId !== "number") throw new TypeError("stanzaId: expected a number");
    if (typeof conversationId !== "string") throw new TypeError("conversationId: expected a string");
    if (!isPlainMap(meta)) throw new TypeError("meta: expected an object");
    if (!isPlainMap(body)) throw new TypeError("body: expected an object");
    const message = parseMessage(toMessageType(type), body);
    const bytes = encodeEnvelope({ stanzaId, conversationId, meta: meta as Record<string, never>, message });
    return Buffer.from(bytes).toString("hex");
  });
}

/** Runs `parley decode` or `parley encode` on stdin. */
export async function runPackets(command: "decode" | "encode"): Promise<void> {
  const convert = command === "decode" ? decodePacketLine : encodePacketLine;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim() !== "") console.log(convert(line));
  }
}

function toLine(convert: () => string): string {
  try {
    return convert();
  } catch (error) {
    const message = error instanceof TypeError ? error.message : toAppError(error).message;
    return JSON.stringify({ error: message });
  }
}

/** A line is either hex or base64: a packet begins with 0x8…, 0xde or 0xdf, for which base64 has no letter of hex. */
function toBytes(line: string): Uint8Array {
  const text = line.replaceAll(/\s/g, "");
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, "hex");
  if (/^[\w+/-]+={0,2}$/.test(text)) return Buffer.from(text, "base64");
  throw new TypeError("The line is neither hex nor base64");
}

function parseLine(line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new TypeError("The line is not JSON");
  }
  if (!isRecord(value)) throw new TypeError("The line is not a JSON object");
  return value;
}

function toMessageType(type: unknown): MessageType {
  const name = typeof type === "number" ? messageTypeOf(type) : type;
  if (typeof name === "string" && Object.hasOwn(MESSAGES, name)) return name as MessageType;
  throw new TypeError("type: expected the name or the number of a message type");
}
