import { AppError } from "../../errors/app-error.ts";
import { TOOL_TIMES } from "../../protocol/limits.ts";
import { type MessageBody } from "../../protocol/messages/messages.ts";
import { type ToolAnnouncement } from "../../protocol/messages/tool-announcement.ts";
import { type AnnouncedTool } from "../../tool/tool-routing.ts";
import { compileForeignSchema } from "../../tool/input-schema.ts";
import { toModelSchema } from "../../tool/model-schema.ts";
import { OUTCOME_TOOL } from "../turns/outcome-turn.ts";

const MAX_DESCRIPTION_LENGTH = 2_000;
const MAX_SCHEMA_LENGTH = 32_768;
/** Of all schemas of one announcement: a hostile one costs about … ms for each 1,000 characters. */
const MAX_SCHEMAS_LENGTH = 131_072;

/** As the model is shown it, with whose words they are beside each text. */
const MAX_SHOWN_LENGTH = 2 * MAX_SCHEMA_LENGTH;

/** One packet can hold tens of thousands of bad tools, and must not fill the outbox with answers. */
const MAX_ERRORS = 16;

/** What a Configuration's tool list comes to: the tools that can be used, and an error for each that cannot. */
export interface Announcement {
  readonly tools: ReadonlyMap<string, AnnouncedTool>;
  readonly errors: readonly AppError[];
}

/** Whose list it is, and what names in it may not begin with: the tools of a server of ours may not be there yet. */
interface Announcer {
  readonly identity: string;
  readonly reserved: readonly string[];
}

/** Compiles an announced list. A bad tool costs its sender that tool only; the error names it and says why. */
export function compileAnnouncement(
  { tools = [], invalidTools = [] }: MessageBody<"configuration">,
  { identity, reserved }: Announcer,
): Announcement {
  const errors = invalidTools.map(({ index, name, reason }) => malformed(name ?? `tools[${index}]`, reason));
  const compiled = new Map<string, AnnouncedTool>();
  let schemasLength = 0;
  for (const tool of tools) {
    if (compiled.has(tool.name)) errors.push(malformed(tool.name, "is announced twice"));
    else if (tool.name === OUTCOME_TOOL) errors.push(malformed(tool.name, "its name is the worker's own"));
    else if (reserved.some((prefix) => tool.name.startsWith(prefix)))
      errors.push(malformed(tool.name, "its name begins like those of a server's tools"));
    else {
      try {
        const schema = JSON.stringify(tool.inputSchema);
        schemasLength += schema.length;
        if (schemasLength > MAX_SCHEMAS_LENGTH) {
          throw new TypeError(`all schemas together are longer than ${MAX_SCHEMAS_LENGTH} characters`);
        }
        compiled.set(tool.name, compile(tool, { schema, identity }));
      } catch (error) {
        errors.push(malformed(tool.name, error instanceof Error ? error.message : "its schema cannot be used"));
      }
    }
  }
  const more = errors.length - MAX_ERRORS;
  if (more > 0) errors.splice(MAX_ERRORS, more, new AppError("malformed", `${more} more tools cannot be used`));
  return { tools: compiled, errors };
}

function compile(tool: ToolAnnouncement, { schema, identity }: { schema: string; identity: string }): AnnouncedTool {
  const { name, description, inputSchema, execution = "client", scope = "own", timeoutMs, annotations } = tool;
  if (schema.length > MAX_SCHEMA_LENGTH) {
    throw new TypeError(`its schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  }
  const jsonSchema = toModelSchema(inputSchema, (text) => quoteOf(identity, text));
  if (JSON.stringify(jsonSchema).length > MAX_SHOWN_LENGTH) {
    throw new TypeError("its schema has too many descriptions");
  }
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION_LENGTH),
    input: compileForeignSchema(inputSchema, jsonSchema),
    execution,
    scope,
    timeoutMs: Math.min(timeoutMs || TOOL_TIMES.defaultTimeoutMs, TOOL_TIMES.maxTimeoutMs),
    readOnly: annotations?.["readOnlyHint"] === true,
  };
}

/** Texts in a schema are its participant's, so the model gets them as quotations, as it does the tool's own. */
function quoteOf(identity: string, text: string): string {
  return `Participant ${JSON.stringify(identity)} describes it as: ${JSON.stringify(text)}`;
}

function malformed(name: string, reason: string): AppError {
  return new AppError("malformed", `Tool "${name}": ${reason}`);
}
