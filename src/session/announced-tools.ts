import { AppError } from "../errors/app-error.ts";
import { TOOL_TIMES, LIMITS } from "../protocol/limits.ts";
import { type MessageBody } from "../protocol/messages.ts";
import { type AnnouncedTool } from "../tool/directory.ts";
import { compileAnnouncedSchema, type InputSchema } from "../tool/input-schema.ts";

const MAX_DESCRIPTION_LENGTH = 2_000;
const MAX_SCHEMA_LENGTH = 32_768;
/** Of all schemas of one announcement: compiling costs about 10 ms for each 1,000 characters of a hostile one. */
const MAX_SCHEMAS_LENGTH = 131_072;

/** Compiling is slow, and clients announce the same tools again and again. By the schema's JSON, the newest last. */
const compiledSchemas = new Map<string, InputSchema>();
const MAX_COMPILED = 128;

/** One packet can hold tens of thousands of bad tools, and must not fill the outbox with answers. */
const MAX_ERRORS = 16;

/** What a Configuration's tool list comes to: the tools that can be used, and an error for each that cannot. */
export interface Announcement {
  readonly tools: ReadonlyMap<string, AnnouncedTool>;
  readonly errors: readonly AppError[];
}

/**
 * Compiles an announced list. A bad tool costs its sender that tool only; the error names it and says why.
 *
 * @param reserved what names may not begin with: the tools of a server of ours may not be there yet
 */
export function compileAnnouncement(
  { tools = [], invalidTools = [] }: MessageBody<"configuration">,
  reserved: readonly string[],
): Announcement {
  const errors = invalidTools.map(({ index, name, reason }) => malformed(name ?? `tools[${index}]`, reason));
  const compiled = new Map<string, AnnouncedTool>();
  let schemasLength = 0;
  for (const tool of tools) {
    if (compiled.has(tool.name)) errors.push(malformed(tool.name, "is announced twice"));
    else if (reserved.some((prefix) => tool.name.startsWith(prefix)))
      errors.push(malformed(tool.name, "its name begins like those of a server's tools"));
    else if (compiled.size >= LIMITS.announcedTools) {
      errors.push(malformed(tool.name, `more than ${LIMITS.announcedTools} tools are announced`));
    } else {
      try {
        const schema = JSON.stringify(tool.inputSchema);
        schemasLength += schema.length;
        if (schemasLength > MAX_SCHEMAS_LENGTH) {
          throw new TypeError(`all schemas together are longer than ${MAX_SCHEMAS_LENGTH} characters`);
        }
        compiled.set(tool.name, compile(tool, schema));
      } catch (error) {
        errors.push(malformed(tool.name, error instanceof Error ? error.message : "its schema cannot be used"));
      }
    }
  }
  const more = errors.length - MAX_ERRORS;
  if (more > 0) errors.splice(MAX_ERRORS, more, new AppError("malformed", `${more} more tools cannot be used`));
  return { tools: compiled, errors };
}

type WireTool = NonNullable<MessageBody<"configuration">["tools"]>[number];

function compile(tool: WireTool, schema: string): AnnouncedTool {
  const { name, description, inputSchema, execution = "client", timeoutMs, annotations } = tool;
  if (schema.length > MAX_SCHEMA_LENGTH) {
    throw new TypeError(`its schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  }
  const input = compiledSchemas.get(schema) ?? compileAnnouncedSchema(inputSchema);
  compiledSchemas.delete(schema);
  compiledSchemas.set(schema, input);
  const oldest = compiledSchemas.keys().next();
  if (compiledSchemas.size > MAX_COMPILED && !oldest.done) compiledSchemas.delete(oldest.value);
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION_LENGTH),
    input,
    execution,
    timeoutMs: timeoutMs === undefined || timeoutMs === 0 ? undefined : Math.min(timeoutMs, TOOL_TIMES.maxTimeoutMs),
    readOnly: annotations?.["readOnlyHint"] === true,
  };
}

function malformed(name: string, reason: string): AppError {
  return new AppError("malformed", `Tool "${name}": ${reason}`);
}
