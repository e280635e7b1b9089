import * as v from "valibot";
import { choice, count, id, integer, jsonValue, text } from "./fields.ts";
import { type InvalidTool, toolAnnouncementSchema } from "./tool-announcement.ts";

/**
 * An invalid `severity` or `recoverable` falls back to a default, because an ErrorMessage must not be answered with
 * another ErrorMessage.
 */
export const errorMessageSchema = v.object({
  /** Older clients omit it. The worker and the SDK always send it. */
  id: v.exactOptional(id),
  code: integer,
  message: text,
  severity: v.fallback(v.picklist([0, 1, 2, 3]), 2),
  recoverable: v.fallback(v.boolean(), true),
  originatingId: v.exactOptional(id),
  /** With code 429: how long to wait before resending that message and all later unacknowledged ones. */
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
  /** The sign is ignored. */
  lastSequenceSeen: v.exactOptional(integer),
  clientVersion: v.exactOptional(text),
  preferredLanguage: v.exactOptional(text),
  device: v.exactOptional(jsonValue),
  /**
   * From the worker: whether it understands speech. From a client: whether it plays the agent's audio; absent means
   * yes.
   */
  listens: v.exactOptional(v.boolean()),
  /** From the worker: whether it speaks its answers. */
  speaks: v.exactOptional(v.boolean()),
  /** From the worker: who says when a spoken turn begins and ends. With `manual`, the clients do. Absent means `auto`. */
  turns: v.exactOptional(text),
  /** From the worker: the session's agent, for people. */
  agent: v.exactOptional(
    v.object({ name: text, description: v.exactOptional(text), suggestions: v.exactOptional(v.array(text)) }),
  ),
  /** Absent: the client understands only messages that need no feature. */
  features: v.exactOptional(v.array(text)),
  /** Absent: the tools are unknown. Empty: there are none. */
  tools: v.exactOptional(v.array(toolAnnouncementSchema)),
});
/**
 * The body of a Configuration. A received one may also have `invalidTools`: the announcements that were not valid and
 * are missing from `tools`. They are reported with error 101.
 */
export type Configuration = v.InferOutput<typeof configurationSchema> & {
  readonly invalidTools?: readonly InvalidTool[];
};
