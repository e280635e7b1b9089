import * as v from "valibot";
import { choice, count, id, integer, jsonValue, text } from "./fields.ts";
import { type InvalidTool, toolAnnouncementSchema } from "./tool-announcement.ts";

/** Read leniently: an ErrorMessage must never be answered with another one. */
export const errorMessageSchema = v.object({
  /** Absent from older peers. What we send has one. */
  id: v.exactOptional(id),
  code: integer,
  message: text,
  severity: v.fallback(v.picklist([0, 1, 2, 3]), 2),
  recoverable: v.fallback(v.boolean(), true),
  originatingId: v.exactOptional(id),
  /** With 429: when to send that message again, and those after it that were not acknowledged. */
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
  /** Absent means a client of the core types only. */
  features: v.exactOptional(v.array(text)),
  /** Absent means "unknown", empty means "none". */
  tools: v.exactOptional(v.array(toolAnnouncementSchema)),
});
/** `invalidTools` exists on a received one only: announcements that were left out of `tools`, for error 101. */
export type Configuration = v.InferOutput<typeof configurationSchema> & {
  readonly invalidTools?: readonly InvalidTool[];
};
