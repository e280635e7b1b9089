import * as z from "zod/mini";
import { id, integer, jsonMap, sequence, text } from "./fields.ts";

export const userMessageSchema = z.object({
  id,
  previousId: z.exactOptional(id),
  content: text,
  /** Each is kept as it came; bytes in it are `{base64}`. */
  attachments: z.exactOptional(z.array(jsonMap)),
});

export const assistantMessageSchema = z.object({ id, previousId: z.exactOptional(id), content: text });

/** Accepted from anyone and ignored: audio travels as LiveKit tracks, so nothing of the body is read. */
export const audioChunkSchema = z.object({});

export const reasoningStepSchema = z.object({ id, messageId: id, sequence, content: text });

export const transcriptionSchema = z.object({
  id,
  previousId: z.exactOptional(id),
  text,
  final: z.boolean(),
  language: z.exactOptional(text),
  confidence: z.exactOptional(z.number()),
});

export const startAnswerSchema = z.object({
  id,
  previousId: id,
  answerType: z.exactOptional(z.enum(["text", "voice", "text+voice"])),
});

/** Reserved: read, never sent. */
export const memoryTraceSchema = z.object({
  id,
  messageId: z.exactOptional(id),
  content: z.exactOptional(text),
  relevance: z.exactOptional(z.number()),
});

export const commentarySchema = z.object({
  id,
  messageId: id,
  content: text,
  commentaryType: z.exactOptional(text),
});

export const assistantSentenceSchema = z.object({
  id,
  /** The id of the StartAnswer. */
  previousId: id,
  sequence,
  text,
  isFinal: z.boolean(),
});

/** One flat shape for the four events; which fields an event has is in docs/protocol.md. */
export const blockEventSchema = z.object({
  event: z.enum(["block_start", "block_delta", "block_stop", "turn_complete"]),
  turnId: id,
  /** The block's place in its turn, from 0; absent on `turn_complete`. */
  sequence: z.exactOptional(integer.check(z.minimum(0))),
  blockType: z.exactOptional(text),
  toolUseId: z.exactOptional(id),
  toolName: z.exactOptional(text),
  delta: z.exactOptional(jsonMap),
  textContent: z.exactOptional(text),
  content: z.exactOptional(jsonMap),
  stopReason: z.exactOptional(text),
});
