import * as v from "valibot";
import { choice, count, id, integer, jsonValue, text } from "./fields.ts";
import { type InvalidTool, toolAnnouncementSchema } from "./tool-announcement.ts";

/** A wrong `severity` or `recoverable` gets a default: an ErrorMessage must not be answered with another one. */
export const errorMessageSchema = v.object({
  /** Older clients send none. The worker and the SDK always do. */
  id: v.exactOptional(id),
  code: integer,
  message: text,
  severity: v.fallback(v.picklist([0, 1, 2, 3]), 2),
  recoverable: v.fallback(v.boolean(), true),
  originatingId: v.exactOptional(id),
  /** With code 429: after how long to send again that message and all later ones that were not acknowledged. */
  retryAfterMs: v.exactOptional(count),
});
export type ErrorMessage = v.InferOutput<typeof errorMessageSchema>;

export const acknowledgementSchema = v.object({ acknowledgedStanzaId: integer, success: v.boolean() });

export const controlStopSchema = v.object({
  targetId: v.exactOptional(id),
  reason: v.exactOptional(text),
  /** Absent means `generation`. */
  stopType: v.exactOptional(choice("generation", "speech", "all")),
});

export const controlVariationSchema = v.object({
  targetId: id,
  mode: choice("regenerate", "edit", "continue"),
  newContent: v.exactOptional(text),
});

export const configurationSchema = v.object({
  /** Its sign is ignored. */
  lastSequenceSeen: v.exactOptional(integer),
  clientVersion: v.exactOptional(text),
  preferredLanguage: v.exactOptional(text),
  device: v.exactOptional(jsonValue),
  /** The worker: whether it understands speech. A client: whether it plays the agent's sound; absent means yes. */
  listens: v.exactOptional(v.boolean()),
  /** The worker: whether it speaks its answers. */
  speaks: v.exactOptional(v.boolean()),
  /** Absent: the client knows only the messages that need no feature. */
  features: v.exactOptional(v.array(text)),
  /** Absent: it is unknown which tools there are. Empty: there are none. */
  tools: v.exactOptional(v.array(toolAnnouncementSchema)),
});
/** `invalidTools` is set on received ones only: announcements that `tools` leaves out, for error 101. */
export type Configuration = v.InferOutput<typeof configurationSchema> & {
  readonly invalidTools?: readonly InvalidTool[];
};
