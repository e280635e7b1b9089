import * as v from "valibot";
import { choice, count, float32, id, jsonMap, text } from "./fields.ts";

export const userMessageSchema = v.object({
  id,
  previousId: v.exactOptional(id),
  content: text,
  /** Stored as sent, except that bytes become `{base64}`. */
  attachments: v.exactOptional(v.array(jsonMap)),
});

export const assistantMessageSchema = v.object({ id, previousId: v.exactOptional(id), content: text });

/** Accepted and ignored, because audio uses LiveKit tracks. No field of the body is read. */
export const audioChunkSchema = v.object({});

/** Starts at 1. Some older clients and workers start at 0. */
const sequence = count;

export const reasoningStepSchema = v.object({ id, messageId: id, sequence, content: text });

export const transcriptionSchema = v.object({
  id,
  previousId: v.exactOptional(id),
  text,
  final: v.boolean(),
  language: v.exactOptional(text),
  confidence: v.exactOptional(float32),
  participant: v.exactOptional(text),
});

export const startAnswerSchema = v.object({
  id,
  previousId: id,
  answerType: v.exactOptional(choice("text", "voice", "text+voice")),
  replacesId: v.exactOptional(id),
});

/** Reserved: accepted, but never sent. */
export const memoryTraceSchema = v.object({
  id,
  messageId: v.exactOptional(id),
  content: v.exactOptional(text),
  relevance: v.exactOptional(float32),
});

export const commentarySchema = v.object({
  id,
  messageId: id,
  content: text,
  commentaryType: v.exactOptional(text),
});

export const assistantSentenceSchema = v.object({
  /** Older workers omit it. This worker always sends it. */
  id: v.exactOptional(id),
  /** The id of the StartAnswer. */
  previousId: id,
  sequence,
  text,
  isFinal: v.boolean(),
});

/** One flat shape for all five events. docs/protocol.md lists the fields of each. */
export const blockEventSchema = v.object({
  event: choice("block_start", "block_delta", "block_stop", "turn_complete", "turn_spoken"),
  turnId: id,
  /** The block's position in its turn, starting at 0. Absent on `turn_complete` and `turn_spoken`. */
  sequence: v.exactOptional(count),
  type: v.exactOptional(text),
  /** Same as `type`, under its name in version 0.1. */
  blockType: v.exactOptional(text),
  toolUseId: v.exactOptional(id),
  toolName: v.exactOptional(text),
  text: v.exactOptional(text),
  result: v.exactOptional(text),
  delta: v.exactOptional(jsonMap),
  textContent: v.exactOptional(text),
  content: v.exactOptional(jsonMap),
  state: v.exactOptional(choice("completed", "interrupted", "failed", "cancelled")),
  stopReason: v.exactOptional(text),
  /** On `turn_spoken`: the part of the answer that was heard, if its speech was cut off. */
  heard: v.exactOptional(text),
  timings: v.exactOptional(jsonMap),
});
