import type * as v from "valibot";
import { sortAnnouncements } from "./tool-announcement.ts";
import * as control from "./control-messages.ts";
import { type MapSchema, parseMap, readFields } from "./fields.ts";
import { LIMITS } from "../limits.ts";
import { MalformedMessageError, type ReadableParts } from "./malformed-message-error.ts";
import { type MessageType } from "./message-types.ts";
import * as talk from "./conversation-messages.ts";
import * as tool from "./tool-messages.ts";

/** Bodies without `conversationId`, which the codec adds. Key order is wire order; a float32 field comes last. */
export const BODY_SCHEMAS = {
  error_message: control.errorMessageSchema,
  user_message: talk.userMessageSchema,
  assistant_message: talk.assistantMessageSchema,
  audio_chunk: talk.audioChunkSchema,
  reasoning_step: talk.reasoningStepSchema,
  tool_use_request: tool.toolUseRequestSchema,
  tool_use_result: tool.toolUseResultSchema,
  acknowledgement: control.acknowledgementSchema,
  transcription: talk.transcriptionSchema,
  control_stop: control.controlStopSchema,
  control_variation: control.controlVariationSchema,
  configuration: control.configurationSchema,
  start_answer: talk.startAnswerSchema,
  memory_trace: talk.memoryTraceSchema,
  commentary: talk.commentarySchema,
  assistant_sentence: talk.assistantSentenceSchema,
  tool_call_state: tool.toolCallStateSchema,
  permission_request: tool.permissionRequestSchema,
  permission_response: tool.permissionResponseSchema,
  tool_use_cancel: tool.toolUseCancelSchema,
  tool_use_progress: tool.toolUseProgressSchema,
  block_event: talk.blockEventSchema,
} as const satisfies Record<MessageType, MapSchema>;

export type MessageBody<Type extends MessageType> = Type extends "configuration"
  ? control.Configuration
  : v.InferOutput<(typeof BODY_SCHEMAS)[Type]>;

/** Optional ids and choices. Clients whose structs cannot leave a field out send `""` for "none". */
const EMPTY_IS_ABSENT: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<MapSchema>(BODY_SCHEMAS).map(([type, { entries }]) => [
    type,
    Object.entries(entries)
      .filter(([name, field]) => isOptional(field) && (/^id$|Id$/.test(name) || field.wrapped.type === "picklist"))
      .map(([name]) => name),
  ]),
);

/** Fields that are lists: each item costs as much to check as a small message. */
const LIST_FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<MapSchema>(BODY_SCHEMAS).map(([type, { entries }]) => [
    type,
    Object.entries(entries)
      .filter(([, field]) => field.type === "array" || ("wrapped" in field && field.wrapped.type === "array"))
      .map(([name]) => name),
  ]),
);

function isOptional(field: object): field is v.ExactOptionalSchema<v.GenericSchema, undefined> {
  return "type" in field && field.type === "exact_optional";
}

/** One message, whatever carries it. */
export type Message = {
  [Type in MessageType]: { readonly type: Type; readonly body: MessageBody<Type> };
}[MessageType];

/**
 * Reads a body that came from outside: nil is absent, keys that are not known are dropped.
 *
 * @throws {MalformedMessageError} naming the first wrong field, never its value
 */
export function parseMessage(type: MessageType, body: Record<string, unknown>, parts: ReadableParts = {}): Message {
  const fields = readFields(body);
  for (const name of EMPTY_IS_ABSENT.get(type) ?? []) if (fields[name] === "") delete fields[name];
  if (type === "configuration") return { type, body: parseConfiguration(fields, parts) };
  if (type === "tool_use_request") parseFields(tool.executionSchema, fields, { ...parts, typeName: type });
  const read = type === "tool_use_result" ? tool.normalizeToolUseResult(fields) : fields;
  return { type, body: parseBody(type, read, parts) } as Message;
}

function parseBody<Type extends MessageType>(
  type: Type,
  fields: Record<string, unknown>,
  parts: ReadableParts,
): MessageBody<Type> {
  return parseFields(BODY_SCHEMAS[type], fields, { ...parts, typeName: type }) as MessageBody<Type>;
}

function parseFields(
  schema: MapSchema,
  fields: Record<string, unknown>,
  parts: ReadableParts & { readonly typeName: MessageType },
): unknown {
  const { typeName } = parts;
  for (const name of LIST_FIELDS.get(typeName) ?? []) {
    const list = fields[name];
    if (!Array.isArray(list) || list.length <= LIMITS.listItems) continue;
    throw new MalformedMessageError(`${typeName}.${name}: over ${LIMITS.listItems} items`, parts, "too_large");
  }
  const parsed = parseMap(schema, fields, typeName);
  if ("fault" in parsed) throw new MalformedMessageError(parsed.fault, parts);
  return parsed.value;
}

function parseConfiguration(fields: Record<string, unknown>, parts: ReadableParts): control.Configuration {
  const { tools: announcements, ...rest } = fields;
  if (!Array.isArray(announcements)) return parseBody("configuration", fields, parts);
  const { tools, invalidTools } = sortAnnouncements(announcements);
  const body = { ...parseBody("configuration", rest, parts), tools };
  return invalidTools.length === 0 ? body : { ...body, invalidTools };
}
