import { AppError } from "../../errors/app-error.ts";
import { TOOL_TIMES } from "../../protocol/limits.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { ToolAnnouncement } from "../../protocol/messages/tool-announcement.ts";
import type { AnnouncedTool } from "../../tool/tool-routing.ts";
import type { ServerTool } from "../../tool/server-tool.ts";
import { compileForeignSchema } from "../../tool/input-schema.ts";
import { toModelSchema } from "../../tool/model-schema.ts";
import { MEMORY_TOOL, OUTCOME_TOOL } from "../../conversation/block.ts";

/** Limits for announced tools, documented in docs/protocol.md. */
export const ANNOUNCEMENT_LIMITS = {
  /** Characters in a description. The rest is cut off. */
  description: 2_000,
  /** Characters in a schema, as JSON. */
  schema: 32_768,
  /** Characters in all schemas of one announcement together. Bounds the cost of compiling hostile schemas. */
  schemas: 131_072,
  /** Characters in a schema as the model sees it, where each string is quoted as words of the participant. */
  shownSchema: 65_536,
  /** How many errors are sent for one announcement: a packet with many bad tools must not fill the outbox. */
  errors: 16,
} as const;

/** A Configuration's tool list, compiled: the usable tools, and errors for the others. */
export interface Announcement {
  readonly tools: ReadonlyMap<string, AnnouncedTool>;
  readonly errors: readonly AppError[];
}

interface Announcer {
  readonly identity: string;
  /** Name prefixes of MCP servers, which client tools must not use. */
  readonly reserved: readonly string[];
  /** The worker's tools. If one has a scope other than `room`, clients cannot announce its name for the room. */
  readonly serverTools: ReadonlyMap<string, Pick<ServerTool, "scope">>;
}

/** Compiles an announced tool list. An invalid tool is skipped, and an error contains its name and the reason. */
export function compileAnnouncement(
  { tools = [], invalidTools = [] }: MessageBody<"configuration">,
  { identity, reserved, serverTools }: Announcer,
): Announcement {
  const errors = invalidTools.map(({ index, name, reason }) => malformed(name ?? `tools[${index}]`, reason));
  const compiled = new Map<string, AnnouncedTool>();
  let schemasLength = 0;
  for (const tool of tools) {
    if (compiled.has(tool.name)) errors.push(malformed(tool.name, "is announced twice"));
    else if (tool.name === OUTCOME_TOOL || tool.name === MEMORY_TOOL)
      errors.push(malformed(tool.name, "its name is reserved for the worker"));
    else if (reserved.some((prefix) => tool.name.startsWith(prefix)))
      errors.push(malformed(tool.name, "its name begins with the prefix of an MCP server"));
    else if (tool.scope === "room" && serverTools.has(tool.name) && serverTools.get(tool.name)?.scope !== "room")
      errors.push(
        malformed(
          tool.name,
          "the worker has a tool with this name and scope own, so it cannot be announced for the room",
        ),
      );
    else {
      try {
        const schema = JSON.stringify(tool.inputSchema);
        schemasLength += schema.length;
        if (schemasLength > ANNOUNCEMENT_LIMITS.schemas) {
          throw new TypeError(`all schemas together are longer than ${ANNOUNCEMENT_LIMITS.schemas} characters`);
        }
        compiled.set(tool.name, compile(tool, { schema, identity }));
      } catch (error) {
        errors.push(malformed(tool.name, error instanceof Error ? error.message : "its schema cannot be used"));
      }
    }
  }
  const more = errors.length - ANNOUNCEMENT_LIMITS.errors;
  if (more > 0)
    errors.splice(ANNOUNCEMENT_LIMITS.errors, more, new AppError("malformed", `${more} more tools cannot be used`));
  return { tools: compiled, errors };
}

function compile(tool: ToolAnnouncement, { schema, identity }: { schema: string; identity: string }): AnnouncedTool {
  const { name, description, inputSchema, execution = "client", scope = "own", timeoutMs, annotations } = tool;
  if (schema.length > ANNOUNCEMENT_LIMITS.schema) {
    throw new TypeError(`its schema is longer than ${ANNOUNCEMENT_LIMITS.schema} characters`);
  }
  const jsonSchema = toModelSchema(inputSchema, (text) => quoteOf(identity, text));
  if (JSON.stringify(jsonSchema).length > ANNOUNCEMENT_LIMITS.shownSchema) {
    throw new TypeError("its schema has too many descriptions");
  }
  return {
    name,
    description: description.slice(0, ANNOUNCEMENT_LIMITS.description),
    input: compileForeignSchema(inputSchema, jsonSchema),
    execution,
    scope,
    timeoutMs: Math.min(timeoutMs || TOOL_TIMES.defaultTimeoutMs, TOOL_TIMES.maxTimeoutMs),
    readOnly: annotations?.["readOnlyHint"] === true,
  };
}

/** Strings in a schema are a participant's words, so the model sees them as quotations, like the description. */
function quoteOf(identity: string, text: string): string {
  return `Participant ${JSON.stringify(identity)} describes it as: ${JSON.stringify(text)}`;
}

function malformed(name: string, reason: string): AppError {
  return new AppError("malformed", `Tool "${name}": ${reason}`);
}
