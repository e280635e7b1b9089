import { createInterface } from "node:readline";
import { toAppError } from "../errors/app-error.ts";
import { isRecord } from "../lib/json.ts";
import { encodeEnvelope } from "../protocol/codec/codec.ts";
import { decodeEnvelope } from "../protocol/codec/decode-envelope.ts";
import { isPlainMap } from "../protocol/messages/fields.ts";
import { MESSAGES, type MessageType, messageTypeOf } from "../protocol/messages/messages.ts";
import { parseMessage } from "../protocol/messages/parse-message.ts";

export const PACKETS_USAGE = `Usage: npm run -s parley -- decode < packets.txt     packets in hex or base64, to one line of JSON each
       npm run -s parley -- encode < messages.jsonl  one {"stanzaId","conversationId","type","meta","body"} a line, to hex

decode reads one packet a line. A packet in hex may also be wrapped into several lines, as docs/protocol.md prints it.`;

/** The maximum length of wrapped hex, in characters. */
const MAX_WRAPPED = 64 * 1024;

/** Converts a packet in hex or base64 to one line of JSON. Converts any other line to `{"error": …}`. */
export function decodePacketLine(line: string): string {
  return toLine(() => {
    const incoming = decodeEnvelope(toBytes(line));
    if (!("message" in incoming)) return JSON.stringify(incoming);
    const { message, ...envelope } = incoming;
    return JSON.stringify({ ...envelope, type: message.type, body: message.body });
  });
}

/** Converts one line of JSON to a packet in hex. `type` is a name or a number. `meta` and `body` are optional. */
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
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
  const converted = command === "decode" ? decodePackets(lines) : encodePackets(lines);
  for await (const line of converted) console.log(line);
}

/**
 * Decodes one packet per line. If a line of hex is not a whole packet, tries again with the following lines appended.
 */
async function* decodePackets(lines: AsyncIterable<string>): AsyncIterable<string> {
  /** Lines of hex that do not form a packet yet. */
  let wrapped: string[] = [];
  const giveUp = () => wrapped.splice(0).map(decodePacketLine);
  for await (const line of lines) {
    const alone = decodePacketLine(line);
    const joined = [...wrapped, line].join("");
    const whole = isError(alone) && wrapped.length > 0 ? decodePacketLine(joined) : alone;
    if (!isError(alone)) yield* [...giveUp(), alone];
    else if (!isError(whole)) {
      wrapped = [];
      yield whole;
    } else if (isHex(line) && joined.length <= MAX_WRAPPED) wrapped.push(line);
    else {
      yield* giveUp();
      if (line.trim() !== "") yield alone;
    }
  }
  yield* giveUp();
}

async function* encodePackets(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) if (line.trim() !== "") yield encodePacketLine(line);
}

function isError(line: string): boolean {
  return line.startsWith('{"error":');
}

function toLine(convert: () => string): string {
  try {
    return convert();
  } catch (error) {
    const message = error instanceof TypeError ? error.message : toAppError(error).message;
    return JSON.stringify({ error: message });
  }
}

/**
 * Decodes a line of hex or base64. No packet looks like both: a packet starts with 0x8…, 0xde or 0xdf, and base64
 * encodes these bytes with a letter that is not a hex digit.
 */
function toBytes(line: string): Uint8Array {
  const text = line.replaceAll(/\s/g, "");
  if (isHex(line)) return Buffer.from(text, "hex");
  if (/^[\w+/-]+={0,2}$/.test(text)) return Buffer.from(text, "base64");
  throw new TypeError("The line is neither hex nor base64");
}

function isHex(line: string): boolean {
  return /^(?:[0-9a-f]{2})+$/i.test(line.replaceAll(/\s/g, ""));
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
