import * as v from "valibot";
import type { Execution } from "../../conversation/call.ts";
import { AppError } from "../../errors/app-error.ts";
import { cleanJson, cleanText } from "../../lib/clean-json.ts";
import type { JsonObject } from "../../lib/json.ts";
import { float32, isPlainMap, readFields } from "../messages/fields.ts";
import { MESSAGE_LIMITS } from "../limits.ts";
import { fieldNames, type Message, MESSAGES, messageTypeOf, type MessageType } from "../messages/messages.ts";
import { MalformedMessageError, parseMessage, type ReadableParts } from "../messages/parse-message.ts";
import { executionSchema } from "../messages/tool-messages.ts";
import { packMap } from "./pack.ts";
import { unpack } from "./unpack.ts";

/** A message with its envelope, ready to encode. */
export interface OutgoingEnvelope {
  readonly stanzaId: number;
  readonly conversationId: string;
  readonly meta?: JsonObject;
  readonly message: Message;
}

const FLOAT32_FIELDS = fieldNames((kind) => kind === float32);

/** Placeholder for a float32. The library writes it as a tag and four bytes, which `encodeEnvelope` overwrites. */
const FLOAT32_LATER = 0xff_ff_ff_ff;
const FLOAT32_TAG = 0xca;

/**
 * Encodes a message as docs/protocol.md specifies: keys in the envelope's order, absent fields omitted, no 64-bit
 * integers. Fields that are not part of the message type are not sent.
 *
 * @throws {AppError} `too_large`, or `internal` for a value that cannot be encoded
 */
export function encodeEnvelope({ stanzaId, conversationId, meta = {}, message }: OutgoingEnvelope): Uint8Array {
  if (!Number.isSafeInteger(stanzaId)) throw new AppError("internal", "A stanzaId is not an integer");
  const { fields, last } = toBody(message, conversationId);
  const bytes = packMap({ stanzaId, conversationId, type: MESSAGES[message.type].number, meta, body: fields });
  if (last === undefined) return bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 5);
  view.setUint8(0, FLOAT32_TAG);
  view.setFloat32(1, last);
  return bytes;
}

/**
 * Returns the body's fields. The library cannot write single numbers as float32, so a float32 field is moved to the end
 * as a placeholder, and its value is returned as `last`.
 */
function toBody(message: Message, conversationId: string): { fields: Record<string, unknown>; last?: number } {
  const source: Readonly<Record<string, unknown>> = message.body;
  const fields: Record<string, unknown> = { conversationId };
  for (const name of Object.keys(MESSAGES[message.type].shape.entries)) {
    const value = source[name];
    if (value !== undefined && value !== null) fields[name] = value;
  }
  const [name = ""] = FLOAT32_FIELDS.get(message.type) ?? [];
  const { [name]: last, ...others } = fields;
  if (typeof last === "number") return { fields: { ...others, [name]: FLOAT32_LATER }, last };
  return { fields: message.type === "tool_use_result" ? { ...fields, requestId: message.body.id } : fields };
}

interface IncomingEnvelope {
  readonly stanzaId: number;
  /** The conversation id in the envelope, or else in the body. `""` if neither contains one. */
  readonly conversationId: string;
  readonly meta: JsonObject;
}

/** A message of an unknown type. It is acknowledged, and answered with error 102 if it has an id. */
export type UnknownMessage = IncomingEnvelope & { readonly unknownType: number; readonly id?: string };
export type ReceivedMessage = IncomingEnvelope & { readonly message: Message };
/** A received message, of a known or an unknown type. Use `"message" in incoming` to tell which. */
export type Incoming = ReceivedMessage | UnknownMessage;

/**
 * Decodes a packet from an agent, which is trusted. For other senders use `decodeEnvelope`, whose cost is bounded by
 * the packet's size. Every value in the result is a copy.
 *
 * @throws {MalformedMessageError} `malformed` or `too_large`, with the parts that could be read; never throws anything
 *   else
 */
export function decodeTrusted(bytes: Uint8Array): Incoming {
  let parts: ReadableParts = {};
  try {
    const { root, fault } = unpack(bytes);
    if (!fault) return readEnvelope(root);
    parts = readParts(readFields(root), root["body"]);
    throw fault;
  } catch (error) {
    throw toMalformed(error, parts);
  }
}

/** Returns the error for a packet that could not be decoded. */
export function toMalformed(error: unknown, parts: ReadableParts): MalformedMessageError {
  if (error instanceof MalformedMessageError) return error;
  const [message, code] =
    error instanceof AppError ? [error.message, error.code] : ["The packet cannot be decoded", "malformed"];
  return new MalformedMessageError(message, parts, code === "too_large" ? code : "malformed");
}

/**
 * Converts a decoded packet to a message.
 *
 * @throws {MalformedMessageError} if the packet is not a message; contains the parts that could be read
 */
export function readEnvelope(map: Record<string, unknown>): Incoming {
  const root = readFields(map);
  const body = root["body"] ?? {};
  const parts = readParts(root, body);
  const { stanzaId } = parts;
  if (stanzaId === undefined) throw new MalformedMessageError("stanzaId: expected an integer", parts);
  const type = root["type"];
  if (!isInteger(type)) throw new MalformedMessageError("type: expected an integer", parts);
  const envelope = { stanzaId, conversationId: readConversationId(root, body, parts), meta: readMeta(root, parts) };
  const name = messageTypeOf(type);
  if (name === undefined) return { ...envelope, unknownType: type, ...(parts.id !== undefined && { id: parts.id }) };
  if (!isPlainMap(body)) throw new MalformedMessageError("body: expected a map", parts);
  return { ...envelope, message: parseMessage(name, body, parts) };
}

/** Reads the parts that identify a message, before the rest is checked. */
export function readParts(root: Record<string, unknown>, body: unknown): ReadableParts {
  const { stanzaId, type } = root;
  const fields = isPlainMap(body) ? readFields(body) : {};
  const typeName = isInteger(type) ? messageTypeOf(type) : undefined;
  const id = idFields(typeName).flatMap((name) => readId(fields[name]) ?? [])[0];
  const conversationId = readId(root["conversationId"]) ?? readId(fields["conversationId"]);
  return {
    ...(isInteger(stanzaId) && { stanzaId }),
    ...(conversationId !== undefined && { conversationId }),
    ...(id !== undefined && { id }),
    ...(typeName !== undefined && { typeName }),
    ...(typeName === "tool_use_request" && { request: readRequest(fields) }),
  };
}

/**
 * Returns the fields that may contain the id by which an ErrorMessage refers to a message. The first field that is
 * present is used.
 */
function idFields(typeName: MessageType | undefined): readonly string[] {
  switch (typeName) {
    case "tool_use_result":
      return ["requestId", "id"];
    case "permission_response":
      return ["permissionId", "id"];
    case "control_stop":
    case "control_variation":
      return ["targetId", "id"];
    default:
      return ["id"];
  }
}

function readRequest({ execution, toolName }: Record<string, unknown>): NonNullable<ReadableParts["request"]> {
  return {
    ...(v.is(executionSchema, { execution }) && { execution: execution as Execution }),
    ...(typeof toolName === "string" && { toolName: cleanText(toolName) }),
  };
}

function readConversationId(root: Record<string, unknown>, body: unknown, parts: ReadableParts): string {
  if (parts.conversationId !== undefined) return parts.conversationId;
  const value = root["conversationId"] ?? (isPlainMap(body) ? body["conversationId"] : undefined) ?? "";
  if (value === "") return "";
  throw new MalformedMessageError(
    `conversationId: expected a string of at most ${MESSAGE_LIMITS.idLength} characters`,
    parts,
  );
}

function readMeta(root: Record<string, unknown>, parts: ReadableParts): JsonObject {
  const meta = root["meta"] ?? {};
  if (!isPlainMap(meta)) throw new MalformedMessageError("meta: expected a map", parts);
  return cleanJson(meta) as JsonObject;
}

function readId(value: unknown): string | undefined {
  return typeof value === "string" && value.length > 0 && value.length <= MESSAGE_LIMITS.idLength
    ? cleanText(value)
    : undefined;
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
