import type { Execution } from "../../conversation/call.ts";
import { AppError } from "../../errors/app-error.ts";
import { MESSAGE_LIMITS } from "../limits.ts";
import type { Configuration } from "./control-messages.ts";
import { type MapSchema, parseMap, readFields } from "./fields.ts";
import { fieldNames, type Message, type MessageBody, MESSAGES, type MessageType } from "./messages.ts";
import { sortAnnouncements } from "./tool-announcement.ts";
import { executionSchema, normalizeToolUseResult } from "./tool-messages.ts";

/** The readable parts of an invalid message, so that it can still be acknowledged and answered. */
export interface ReadableParts {
  readonly stanzaId?: number;
  readonly conversationId?: string;
  /** The message's id; for a tool result, the id of its request. */
  readonly id?: string;
  readonly typeName?: MessageType;
  /** For a ToolUseRequest: its `execution` and the tool's name. */
  readonly request?: { readonly execution?: Execution; readonly toolName?: string };
}

/** Why a packet was rejected, with the parts that could be read. */
export class MalformedMessageError extends AppError {
  readonly parts: ReadableParts;

  constructor(message: string, parts: ReadableParts, code: "malformed" | "too_large" = "malformed") {
    super(code, message);
    this.parts = parts;
  }
}

/** Optional ids and choices. Clients that cannot omit a field send `""` for "none". */
const EMPTY_IS_ABSENT = fieldNames(
  (kind, name, isOptional) => isOptional && (/^id$|Id$/.test(name) || kind.type === "picklist"),
);

/**
 * Fields that are lists. Their length is limited, because checking an item costs as much as checking a small message.
 */
const LISTS = fieldNames(({ type }) => type === "array");

/**
 * Parses a body from the wire. nil counts as absent, and unknown keys are dropped.
 *
 * @throws {MalformedMessageError} if a field is invalid; the message names the first invalid field, never its value
 */
export function parseMessage(type: MessageType, body: Record<string, unknown>, parts: ReadableParts = {}): Message {
  const fields = readFields(body);
  for (const name of EMPTY_IS_ABSENT.get(type) ?? []) if (fields[name] === "") delete fields[name];
  if (type === "configuration") return { type, body: parseConfiguration(fields, parts) };
  if (type === "tool_use_request") parseFields(executionSchema, fields, { ...parts, typeName: type });
  const read = type === "tool_use_result" ? normalizeToolUseResult(fields) : fields;
  return { type, body: parseBody(type, read, parts) } as Message;
}

function parseBody<Type extends MessageType>(
  type: Type,
  fields: Record<string, unknown>,
  parts: ReadableParts,
): MessageBody<Type> {
  return parseFields(MESSAGES[type].shape, fields, { ...parts, typeName: type }) as MessageBody<Type>;
}

function parseFields(
  schema: MapSchema,
  fields: Record<string, unknown>,
  parts: ReadableParts & { readonly typeName: MessageType },
): unknown {
  const { typeName } = parts;
  for (const name of LISTS.get(typeName) ?? []) {
    const list = fields[name];
    if (!Array.isArray(list) || list.length <= MESSAGE_LIMITS.listItems) continue;
    throw new MalformedMessageError(`${typeName}.${name}: over ${MESSAGE_LIMITS.listItems} items`, parts, "too_large");
  }
  const parsed = parseMap(schema, fields, typeName);
  if ("fault" in parsed) throw new MalformedMessageError(parsed.fault, parts);
  return parsed.value;
}

function parseConfiguration(fields: Record<string, unknown>, parts: ReadableParts): Configuration {
  const { tools: announcements, ...rest } = fields;
  if (!Array.isArray(announcements)) return parseBody("configuration", fields, parts);
  const { tools, invalidTools } = sortAnnouncements(announcements);
  const body = { ...parseBody("configuration", rest, parts), tools };
  return invalidTools.length === 0 ? body : { ...body, invalidTools };
}
