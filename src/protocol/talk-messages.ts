import { z } from "zod";
import { id, integer, jsonMap, sequence, text } from "./fields.ts";

export const userMessageSchema = z.object({
  id,
  previousId: id.exactOptional(),
  content: text,
  /** Each is kept as it came; bytes in it are `{base64}`. */
  attachments: z.array(jsonMap).exactOptional(),
});

export const assistantMessageSchema = z.object({ id, previousId: id.exactOptional(), content: text });

/** Accepted from anyone and ignored: audio travels as LiveKit tracks, so nothing of the body is read. */
export const audioChunkSchema = z.object({});

export const reasoningStepSchema = z.object({ id, messageId: id, sequence, content: text });

export const transcriptionSchema = z.object({
  id,
  previousId: id.exactOptional(),
  text,
  final: z.boolean(),
  language: text.exactOptional(),
  confidence: z.number().exactOptional(),
});

export const startAnswerSchema = z.object({
  id,
  previousId: id,
  answerType: z.enum(["text", "voice", "text+voice"]).exactOptional(),
});

/** Reserved: read, never sent. */
export const memoryTraceSchema = z.object({
  id,
  messageId: id.exactOptional(),
  content: text.exactOptional(),
  relevance: z.number().exactOptional(),
});

export const commentarySchema = z.object({
  id,
  messageId: id,
  content: text,
  commentaryType: text.exactOptional(),
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
  sequence: integer.min(0).exactOptional(),
  blockType: text.exactOptional(),
  toolUseId: id.exactOptional(),
  toolName: text.exactOptional(),
  delta: jsonMap.exactOptional(),
  textContent: text.exactOptional(),
  content: jsonMap.exactOptional(),
  stopReason: text.exactOptional(),
});
