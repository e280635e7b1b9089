import * as z from "zod/mini";
import { id, integer, jsonValue, text } from "./fields.ts";
import { type InvalidTool, announcedToolSchema } from "./announced-tool.ts";

/** Read leniently: an ErrorMessage must never be answered with another one. */
export const errorMessageSchema = z.object({
  id,
  code: integer,
  message: text,
  severity: z.catch(z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]), 2),
  recoverable: z.catch(z.boolean(), true),
  originatingId: z.exactOptional(id),
});
export type ErrorMessage = z.output<typeof errorMessageSchema>;

export const acknowledgementSchema = z.object({ acknowledgedStanzaId: integer, success: z.boolean() });

export const controlStopSchema = z.object({
  targetId: z.exactOptional(id),
  reason: z.exactOptional(text),
  /** Absent means `generation`. */
  stopType: z.exactOptional(z.enum(["generation", "speech", "all"])),
});

export const controlVariationSchema = z.object({
  targetId: id,
  mode: z.enum(["regenerate", "edit", "continue"]),
  newContent: z.exactOptional(text),
});

export const configurationSchema = z.object({
  /** Its sign is ignored. */
  lastSequenceSeen: z.exactOptional(integer),
  clientVersion: z.exactOptional(text),
  preferredLanguage: z.exactOptional(text),
  device: z.exactOptional(jsonValue),
  /** Absent means a client of the core types only. */
  features: z.exactOptional(z.array(text)),
  /** Absent means "unknown", empty means "none". */
  tools: z.exactOptional(z.array(announcedToolSchema)),
});
/** `invalidTools` exists on a received one only: announcements that were left out of `tools`, for error 101. */
export type Configuration = z.output<typeof configurationSchema> & { readonly invalidTools?: readonly InvalidTool[] };
