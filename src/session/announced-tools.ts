import { AppError } from "../errors/app-error.ts";
import { TOOL_TIMES, LIMITS } from "../protocol/limits.ts";
import { type MessageBody } from "../protocol/messages.ts";
import { type AnnouncedTool } from "../tool/directory.ts";
import { compileAnnouncedSchema } from "../tool/input-schema.ts";

const MAX_DESCRIPTION_LENGTH = 2_000;
const MAX_SCHEMA_LENGTH = 32_768;

/** What a Configuration's tool list comes to: the tools that can be used, and an error for each that cannot. */
export interface Announcement {
  readonly tools: ReadonlyMap<string, AnnouncedTool>;
  readonly errors: readonly AppError[];
}

/** Compiles an announced list. A bad tool costs its sender that tool only; the error names it and says why. */
export function compileAnnouncement({ tools = [], invalidTools = [] }: MessageBody<"configuration">): Announcement {
  const errors = invalidTools.map(({ index, name, reason }) => malformed(name ?? `tools[${index}]`, reason));
  const compiled = new Map<string, AnnouncedTool>();
  for (const tool of tools) {
    if (compiled.has(tool.name)) errors.push(malformed(tool.name, "is announced twice"));
    else if (compiled.size >= LIMITS.announcedTools) {
      errors.push(malformed(tool.name, `more than ${LIMITS.announcedTools} tools are announced`));
    } else {
      try {
        compiled.set(tool.name, compile(tool));
      } catch (error) {
        errors.push(malformed(tool.name, error instanceof Error ? error.message : "its schema cannot be used"));
      }
    }
  }
  return { tools: compiled, errors };
}

type WireTool = NonNullable<MessageBody<"configuration">["tools"]>[number];

function compile({
  name,
  description,
  inputSchema,
  execution = "client",
  timeoutMs,
  annotations,
}: WireTool): AnnouncedTool {
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA_LENGTH) {
    throw new TypeError(`its schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  }
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION_LENGTH),
    input: compileAnnouncedSchema(inputSchema),
    execution,
    timeoutMs: timeoutMs === undefined || timeoutMs === 0 ? undefined : Math.min(timeoutMs, TOOL_TIMES.maxTimeoutMs),
    readOnly: annotations?.["readOnlyHint"] === true,
  };
}

function malformed(name: string, reason: string): AppError {
  return new AppError("malformed", `Tool "${name}": ${reason}`);
}
