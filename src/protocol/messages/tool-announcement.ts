import * as v from "valibot";
import { isRecord } from "../../lib/json.ts";
import { choice, count, jsonMap, matching, parseMap, readFields, text } from "./fields.ts";
import { MESSAGE_LIMITS, TOOL_NAME } from "../limits.ts";

/** A tool in a client's or the worker's Configuration. Does not check whether `inputSchema` is a valid JSON Schema. */
export const toolAnnouncementSchema = v.object({
  name: matching(TOOL_NAME),
  description: v.optional(text, ""),
  inputSchema: v.optional(jsonMap, { type: "object" }),
  /** Absent means `client`. */
  execution: v.exactOptional(choice("client", "either")),
  /** Whose turns may use the tool. Absent means `own`: only its owner's. */
  scope: v.exactOptional(choice("own", "room")),
  timeoutMs: v.exactOptional(count),
  annotations: v.exactOptional(jsonMap),
});
export type ToolAnnouncement = v.InferOutput<typeof toolAnnouncementSchema>;

/** An announcement that cannot be used. Its sender is notified of the index and the reason. */
export interface InvalidTool {
  /** Its index in the list as it was sent. */
  readonly index: number;
  /** Set if the name itself is valid. */
  readonly name?: string;
  readonly reason: string;
}

/** Separates valid from invalid announcements. Those beyond `MESSAGE_LIMITS.announcedTools` are not read. */
export function sortAnnouncements(announcements: readonly unknown[]): {
  readonly tools: ToolAnnouncement[];
  readonly invalidTools: InvalidTool[];
} {
  const tools: ToolAnnouncement[] = [];
  const invalidTools: InvalidTool[] = [];
  for (const [index, announcement] of announcements.slice(0, MESSAGE_LIMITS.announcedTools).entries()) {
    const fields = isRecord(announcement) ? readFields(announcement) : announcement;
    const parsed = parseMap(toolAnnouncementSchema, fields, `tools[${index}]`);
    if ("value" in parsed) tools.push(parsed.value);
    else invalidTools.push({ index, ...nameOf(announcement), reason: parsed.fault });
  }
  const more = announcements.length - MESSAGE_LIMITS.announcedTools;
  if (more > 0) {
    const reason = `only the first ${MESSAGE_LIMITS.announcedTools} tools are used`;
    invalidTools.push({
      index: MESSAGE_LIMITS.announcedTools,
      ...nameOf(announcements[MESSAGE_LIMITS.announcedTools]),
      reason,
    });
  }
  return { tools, invalidTools };
}

function nameOf(announcement: unknown): { readonly name?: string } {
  const name = isRecord(announcement) ? announcement["name"] : undefined;
  return typeof name === "string" && TOOL_NAME.test(name) ? { name } : {};
}
