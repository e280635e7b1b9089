import type * as v from "valibot";
import * as control from "./control-messages.ts";
import * as conversation from "./conversation-messages.ts";
import type { MapSchema } from "./fields.ts";
import * as tool from "./tool-messages.ts";

interface Row {
  /** The type's number on the wire. 17 to 99 belong to other implementations of the protocol. */
  readonly number: number;
  /** The body, without the `conversationId` that the codec adds. Keys are written in this order. */
  readonly shape: MapSchema;
  /**
   * The sender. The receiver must have a handler (`MessageHandlers` in the worker, `WorkerMessages` in the SDK), unless
   * the type is one of the exceptions listed there.
   */
  readonly from: "client" | "worker" | "both";
  /** Whether the worker keeps sent messages for clients that reconnect. */
  readonly kept?: boolean | ((body: never) => boolean);
  /**
   * The feature that clients must list in their Configuration to use the message. Worker code that sends the message
   * must select its receivers by this feature. The feature is not checked on messages from clients.
   */
  readonly feature?: string;
  /** Whether the SDK always lists that feature. It lists other features only if the application asks for them. */
  readonly bySdk?: true;
}
type RowOfClient = Row & { readonly from: "client"; readonly kept?: never };
type RowOfWorker = Row & { readonly from: "worker" | "both"; readonly kept: NonNullable<Row["kept"]> };

/**
 * Every message in the protocol. Everything else derives from this table: the codec, the types, the handlers and
 * feature lists of both ends, which messages are kept for reconnecting clients, JSON Schemas, and the tests of
 * docs/protocol.md.
 *
 * Partial transcriptions, the states of open calls, and block events are not kept. They are so numerous that they would
 * push out the messages that a reconnecting client needs.
 */
export const MESSAGES = {
  error_message: { number: 1, shape: control.errorMessageSchema, from: "both", kept: true },
  user_message: { number: 2, shape: conversation.userMessageSchema, from: "client" },
  assistant_message: { number: 3, shape: conversation.assistantMessageSchema, from: "worker", kept: true },
  audio_chunk: { number: 4, shape: conversation.audioChunkSchema, from: "both", kept: true },
  reasoning_step: {
    number: 5,
    shape: conversation.reasoningStepSchema,
    from: "worker",
    kept: true,
    feature: "reasoning_steps",
  },
  tool_use_request: { number: 6, shape: tool.toolUseRequestSchema, from: "worker", kept: true },
  tool_use_result: { number: 7, shape: tool.toolUseResultSchema, from: "both", kept: true },
  acknowledgement: { number: 8, shape: control.acknowledgementSchema, from: "both", kept: false },
  transcription: {
    number: 9,
    shape: conversation.transcriptionSchema,
    from: "worker",
    kept: ({ final }: v.InferOutput<typeof conversation.transcriptionSchema>) => final,
  },
  control_stop: { number: 10, shape: control.controlStopSchema, from: "client" },
  control_variation: { number: 11, shape: control.controlVariationSchema, from: "client" },
  configuration: { number: 12, shape: control.configurationSchema, from: "both", kept: true },
  start_answer: { number: 13, shape: conversation.startAnswerSchema, from: "worker", kept: true },
  memory_trace: { number: 14, shape: conversation.memoryTraceSchema, from: "worker", kept: true },
  commentary: { number: 15, shape: conversation.commentarySchema, from: "both", kept: true },
  assistant_sentence: { number: 16, shape: conversation.assistantSentenceSchema, from: "worker", kept: true },
  tool_call_state: {
    number: 100,
    shape: tool.toolCallStateSchema,
    from: "worker",
    kept: ({ status }: v.InferOutput<typeof tool.toolCallStateSchema>) => status !== "pending" && status !== "running",
    feature: "tool_call_state",
  },
  permission_request: {
    number: 101,
    shape: tool.permissionRequestSchema,
    from: "worker",
    kept: true,
    feature: "permissions",
  },
  permission_response: {
    number: 102,
    shape: tool.permissionResponseSchema,
    from: "both",
    kept: true,
    feature: "permissions",
  },
  tool_use_cancel: {
    number: 103,
    shape: tool.toolUseCancelSchema,
    from: "worker",
    kept: true,
    feature: "tool_use_cancel",
    bySdk: true,
  },
  tool_use_progress: {
    number: 104,
    shape: tool.toolUseProgressSchema,
    from: "client",
    feature: "tool_use_progress",
    bySdk: true,
  },
  block_event: { number: 105, shape: conversation.blockEventSchema, from: "worker", kept: false, feature: "blocks" },
} as const satisfies Record<string, RowOfClient | RowOfWorker>;

type Rows = typeof MESSAGES;
export type MessageType = keyof Rows;

type Bodies = {
  [Type in MessageType]: Type extends "configuration" ? control.Configuration : v.InferOutput<Rows[Type]["shape"]>;
};
export type MessageBody<Type extends MessageType> = Bodies[Type];

/** One message, independent of its transport. */
export type Message<Type extends MessageType = MessageType> = {
  [Each in Type]: { readonly type: Each; readonly body: MessageBody<Each> };
}[Type];

/** The types that one end sends and the other end handles. */
export type SentBy<End extends "client" | "worker"> = {
  [Type in MessageType]: Rows[Type]["from"] extends End | "both" ? Type : never;
}[MessageType];

export function isSentBy<End extends "client" | "worker">(end: End, message: Message): message is Message<SentBy<End>> {
  const { from } = MESSAGES[message.type];
  return from === end || from === "both";
}

const rows = Object.entries<Row>(MESSAGES) as readonly (readonly [MessageType, Row])[];
const BY_NUMBER: ReadonlyMap<number, MessageType> = new Map(rows.map(([type, { number }]) => [number, type]));

export function messageTypeOf(number: number): MessageType | undefined {
  return BY_NUMBER.get(number);
}

/**
 * Returns, for each message type, the names of the fields for which `isWanted` is true. For an optional field, `kind`
 * is its inner schema.
 */
export function fieldNames(
  isWanted: (kind: v.ObjectEntries[string], name: string, isOptional: boolean) => boolean,
): ReadonlyMap<MessageType, readonly string[]> {
  const namesOf = ({ entries }: MapSchema) =>
    Object.keys(entries).filter((name) => {
      const field = entries[name] as v.ObjectEntries[string];
      return "wrapped" in field ? isWanted(field.wrapped, name, true) : isWanted(field, name, false);
    });
  return new Map(rows.map(([type, { shape }]) => [type, namesOf(shape)]));
}

/** Whether the worker keeps a message for clients that reconnect. */
export function isKept({ type, body }: Message): boolean {
  const { kept = false }: Row = MESSAGES[type];
  return typeof kept === "function" ? kept(body as never) : kept;
}

/** `claims` has no message of its own: a client's Ack says whether it claims an `either` call. */
export type Feature = Extract<Rows[MessageType], { readonly feature: string }>["feature"] | "claims";

/** All features. The worker lists all of them in its Configuration. */
export function workerFeatures(): string[] {
  return [...new Set(rows.flatMap(([, { feature = [] }]) => feature)), "claims"];
}

/** The features that the SDK always lists in its Configuration. */
export function sdkFeatures(): string[] {
  return ["claims", ...rows.flatMap(([, { bySdk, feature = [] }]) => (bySdk ? feature : []))];
}
