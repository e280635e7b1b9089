import { AppError } from "../../errors/app-error.ts";
import { encodeEnvelope, type Incoming } from "../../protocol/codec/codec.ts";
import { decodeEnvelope, unpackPacket } from "../../protocol/codec/decode-envelope.ts";
import { isPlainMap } from "../../protocol/messages/fields.ts";
import { isSentBy, type Message, type MessageBody, MESSAGES } from "../../protocol/messages/messages.ts";
import { KitFault } from "../check.ts";

export type Side = "client" | "worker";
export type FrameKind = "packet" | "stream";

/** A rule for writing frames, and how a frame breaks it. */
export interface FrameFault {
  readonly rule: "schema" | "keys" | "nil" | "wide_integer" | "conversation" | "body_conversation";
  readonly text: string;
}

/** A frame as received, not decoded yet. */
export interface Arrival {
  readonly bytes: Uint8Array;
  readonly way: FrameKind;
  readonly topic: string;
  readonly isReliable: boolean;
  /** `undefined` until LiveKit has announced the sender. */
  readonly from: string | undefined;
  readonly at: number;
}

/** A frame sent by one side, with all of its faults. */
export interface Frame extends Arrival {
  /** The body as MessagePack decoded it, unchecked. `{}` if it cannot be decoded. */
  readonly rawBody: Readonly<Record<string, unknown>>;
  /** 0 if the stanza id cannot be read. */
  readonly stanzaId: number;
  /** `undefined` if the frame is not a message of the protocol. */
  readonly message: Message | undefined;
  readonly faults: readonly FrameFault[];
}

const ENVELOPE_KEYS = ["stanzaId", "conversationId", "type", "meta", "body"];

interface Expected {
  readonly side: Side;
  readonly conversationId: string;
  /** Whether this is the sender's first frame, which may lack the conversation id. */
  readonly isFirst: boolean;
}

/** Decodes a frame and checks it against the rules and the schema of its type. Never throws. */
export function readFrame(arrival: Arrival, expected: Expected): Frame {
  const raw = attempt(() => unpackPacket(arrival.bytes));
  if ("problem" in raw) {
    const faults: FrameFault[] = [{ rule: "schema", text: raw.problem }];
    return { ...arrival, rawBody: {}, stanzaId: 0, message: undefined, faults };
  }
  const rawBody = isPlainMap(raw.value["body"]) ? raw.value["body"] : {};
  const read = attempt(() => decodeEnvelope(arrival.bytes));
  const message = "value" in read && "message" in read.value ? read.value.message : undefined;
  const schemaFault = "problem" in read ? read.problem : findSchemaFault(read.value, expected.side);
  const faults = [
    ...(schemaFault === undefined ? [] : [{ rule: "schema" as const, text: schemaFault }]),
    ...findWritingFaults(raw.value, rawBody, expected),
  ];
  const stanzaId = Number(raw.value["stanzaId"]);
  return { ...arrival, rawBody, stanzaId: Number.isSafeInteger(stanzaId) ? stanzaId : 0, message, faults };
}

/** Encodes a message that the kit sends itself. @throws {KitFault} if it breaks a rule */
export function encodeOwn(envelope: Parameters<typeof encodeEnvelope>[0], side: Side): Uint8Array {
  const bytes = encodeEnvelope(envelope);
  const unsent: Arrival = { bytes, way: "packet", topic: "", isReliable: true, from: undefined, at: 0 };
  const [fault] = readFrame(unsent, { side, conversationId: envelope.conversationId, isFirst: false }).faults;
  if (fault) throw new KitFault(`The kit's own ${envelope.message.type} is invalid: ${fault.text}`);
  return bytes;
}

/** Returns the bodies of all messages of a type, in order. */
export function bodiesOf<Type extends Message["type"]>(frames: readonly Frame[], type: Type): MessageBody<Type>[] {
  return frames.flatMap(({ message }) => (message?.type === type ? [message.body as MessageBody<Type>] : []));
}

/** Returns the name of a frame's type, for reports. */
export function nameOf({ message }: Pick<Frame, "message">): string {
  return message?.type ?? "a frame that cannot be read";
}

function findSchemaFault(incoming: Incoming, side: Side): string | undefined {
  if (!("message" in incoming)) return `the protocol has no type ${incoming.unknownType}`;
  const { message } = incoming;
  const { type } = message;
  if (!isSentBy(side, message)) return `a ${side} does not send the type ${MESSAGES[type].number}, ${type}`;
  const [invalid] = message.type === "configuration" ? (message.body.invalidTools ?? []) : [];
  return invalid?.reason;
}

function findWritingFaults(
  raw: Record<string, unknown>,
  body: Record<string, unknown>,
  { conversationId, isFirst }: Expected,
): FrameFault[] {
  const faults: FrameFault[] = [];
  const keys = Object.keys(raw).join(", ");
  if (keys !== ENVELOPE_KEYS.join(", ")) faults.push({ rule: "keys", text: `the envelope has ${keys}` });
  const meta = isPlainMap(raw["meta"]) ? raw["meta"] : {};
  const nil = Object.entries({ ...meta, ...body, ...raw }).find(([, value]) => value === null || value === undefined);
  if (nil) faults.push({ rule: "nil", text: `${nil[0]} is nil` });
  if (hasBigint(raw)) faults.push({ rule: "wide_integer", text: "the frame has a 64-bit integer" });
  const named = raw["conversationId"] ?? "";
  if (named !== conversationId && !(isFirst && named === ""))
    faults.push({
      rule: "conversation",
      text: `conversationId is ${JSON.stringify(named)}, expected "${conversationId}"`,
    });
  if (body["conversationId"] !== named)
    faults.push({ rule: "body_conversation", text: "the body's conversationId differs from the envelope's" });
  return faults;
}

function hasBigint(value: unknown): boolean {
  if (typeof value === "bigint") return true;
  if (Array.isArray(value)) return value.some(hasBigint);
  return isPlainMap(value) && Object.values(value).some(hasBigint);
}

function attempt<Value>(work: () => Value): { readonly value: Value } | { readonly problem: string } {
  try {
    return { value: work() };
  } catch (error) {
    return { problem: error instanceof AppError ? error.message : String(error) };
  }
}
