import { z } from "zod";
import { id, integer, jsonValue, text } from "./fields.ts";
import { type InvalidTool, announcedToolSchema } from "./announced-tool.ts";

/** Read leniently: an ErrorMessage must never be answered with another one. */
export const errorMessageSchema = z.object({
  id,
  code: integer,
  message: text,
  severity: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]).catch(2),
  recoverable: z.boolean().catch(true),
  originatingId: id.exactOptional(),
});
export type ErrorMessage = z.output<typeof errorMessageSchema>;

export const acknowledgementSchema = z.object({ acknowledgedStanzaId: integer, success: z.boolean() });

export const controlStopSchema = z.object({
  targetId: id.exactOptional(),
  reason: text.exactOptional(),
  /** Absent means `generation`. */
  stopType: z.enum(["generation", "speech", "all"]).exactOptional(),
});

export const controlVariationSchema = z.object({
  targetId: id,
  mode: z.enum(["regenerate", "edit", "continue"]),
  newContent: text.exactOptional(),
});

export const configurationSchema = z.object({
  /** Its sign is ignored. */
  lastSequenceSeen: integer.exactOptional(),
  clientVersion: text.exactOptional(),
  preferredLanguage: text.exactOptional(),
  device: jsonValue.exactOptional(),
  /** Absent means a client of the core types only. */
  features: z.array(text).exactOptional(),
  /** Absent means "unknown", empty means "none". */
  tools: z.array(announcedToolSchema).exactOptional(),
});
/** `invalidTools` exists on a received one only: announcements that were left out of `tools`, for error 101. */
export type Configuration = z.output<typeof configurationSchema> & { readonly invalidTools?: readonly InvalidTool[] };
