import * as v from "valibot";
import { choice, count, float32, id, jsonMap, text } from "./fields.ts";

export const userMessageSchema = v.object({
  id,
  previousId: v.exactOptional(id),
  content: text,
  /** Each is kept as it was sent; bytes in it become `{base64}`. */
  attachments: v.exactOptional(v.array(jsonMap)),
});

export const assistantMessageSchema = v.object({ id, previousId: v.exactOptional(id), content: text });

/** Accepted and ignored: audio travels as LiveKit tracks. No field of the body is read. */
export const audioChunkSchema = v.object({});

/** From 1; some older peers count from 0. */
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

/** Reserved: read, never sent. */
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
  /** Older workers send none; this one always does. */
  id: v.exactOptional(id),
  /** The id of the StartAnswer. */
  previousId: id,
  sequence,
  text,
  isFinal: v.boolean(),
});

/** One flat shape for the five events. docs/protocol.md says which event has which fields. */
export const blockEventSchema = v.object({
  event: choice("block_start", "block_delta", "block_stop", "turn_complete", "turn_spoken"),
  turnId: id,
  /** The block's place in its turn, from 0; absent on `turn_complete` and `turn_spoken`. */
  sequence: v.exactOptional(count),
  type: v.exactOptional(text),
  /** The same as `type`, by its name in version 0.1. */
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
  /** On `turn_spoken`: what was heard of an answer whose speech was cut off. */
  heard: v.exactOptional(text),
  timings: v.exactOptional(jsonMap),
});
