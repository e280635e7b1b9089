import * as z from "zod/mini";
import { isRecord } from "../lib/json.ts";
import { integer, jsonMap, readFields, text } from "./fields.ts";
import { describeIssue } from "./malformed-message-error.ts";
import { TOOL_NAME } from "./limits.ts";
import { safeParse } from "./safe-parse.ts";

/** A tool that a client offers, or that the worker names. The schema's own validity is not checked here. */
export const announcedToolSchema = z.object({
  name: z.string().check(z.regex(TOOL_NAME)),
  description: z._default(text, ""),
  inputSchema: z._default(jsonMap, { type: "object" }),
  /** Absent means `client`. */
  execution: z.exactOptional(z.enum(["client", "either"])),
  timeoutMs: z.exactOptional(integer.check(z.minimum(0))),
  annotations: z.exactOptional(jsonMap),
});
export type AnnouncedTool = z.output<typeof announcedToolSchema>;

/** An announcement that cannot be used, so that its sender can be told which and why. */
export interface InvalidTool {
  /** Its place in the list as it was sent. */
  readonly index: number;
  /** Set when the name itself is valid. */
  readonly name?: string;
  readonly reason: string;
}

/** One bad announcement costs a client that tool, not its whole Configuration. */
export function sortAnnouncements(announcements: readonly unknown[]): {
  readonly tools: AnnouncedTool[];
  readonly invalidTools: InvalidTool[];
} {
  const tools: AnnouncedTool[] = [];
  const invalidTools: InvalidTool[] = [];
  for (const [index, announcement] of announcements.entries()) {
    const parsed = safeParse(announcedToolSchema, isRecord(announcement) ? readFields(announcement) : announcement);
    if (parsed.success) tools.push(parsed.data);
    else invalidTools.push({ index, ...nameOf(announcement), reason: describeIssue(parsed.error, `tools[${index}]`) });
  }
  return { tools, invalidTools };
}

function nameOf(announcement: unknown): { readonly name?: string } {
  const name = isRecord(announcement) ? announcement["name"] : undefined;
  return typeof name === "string" && TOOL_NAME.test(name) ? { name } : {};
}
