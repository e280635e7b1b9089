import { z } from "zod";
import { type JsonObject } from "../../lib/json.ts";
import { TOOL_NAME } from "../../protocol/limits.ts";
import { defineTool, type ToolContext } from "../define-tool.ts";
import { toServerTool, type ServerTool } from "../server-tool.ts";
import { compileMcpSchema } from "./tool-schema.ts";

const MAX_DESCRIPTION_LENGTH = 4_000;

/** What we read of an entry of `tools/list`. */
const listedSchema = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal("object") }),
  annotations: z.looseObject({ readOnlyHint: z.unknown(), idempotentHint: z.unknown() }).partial().optional(),
  execution: z.looseObject({ taskSupport: z.unknown() }).partial().optional(),
});

export interface McpToolOptions {
  readonly server: string;
  readonly timeoutMs: number;
  /** Calls the tool by its own name. */
  readonly call: (tool: string, input: unknown, context: Omit<ToolContext, "settings">) => Promise<unknown>;
  readonly isAway: () => boolean;
}

/** @throws {TypeError} saying why the tool cannot be used; fit for the log */
export function toMcpTool(listed: unknown, { server, timeoutMs, call, isAway }: McpToolOptions): ServerTool {
  const parsed = listedSchema.safeParse(listed);
  if (!parsed.success) throw new TypeError(`its ${parsed.error.issues[0]?.path.join(".") || "entry"} cannot be read`);
  const { name, title, description = title, inputSchema, annotations = {}, execution = {} } = parsed.data;
  const ownName = mcpToolName(server, name);
  if (!TOOL_NAME.test(ownName)) throw new TypeError(`the name "${ownName.slice(0, 200)}" is longer than 64 characters`);
  if (execution.taskSupport === "required") throw new TypeError("it can only be run as a task");
  const isReadOnly = annotations["readOnlyHint"] === true;
  const text = description?.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed().trim();
  const tool = defineTool<JsonObject>({
    description: text || `The tool "${ownName}".`,
    input: { type: "object" },
    timeoutMs,
    readOnly: isReadOnly,
    idempotent: isReadOnly || annotations["idempotentHint"] === true,
    run: (input, context) => call(name, input, context),
  });
  return { ...toServerTool(ownName, tool, undefined), input: compileMcpSchema(inputSchema), isAway };
}

/** What the names of a server's tools begin with. */
export function toolPrefix(server: string): string {
  return `${server}_`;
}

/** What the model calls a server's tool. May come out too long. */
function mcpToolName(server: string, tool: string): string {
  return `${toolPrefix(server)}${tool.replaceAll(/[^a-zA-Z0-9_-]/gu, "_")}`;
}

/** What a tool calls itself, as far as a log can show it. */
export function listedName(listed: unknown): string {
  const parsed = z.looseObject({ name: z.string() }).safeParse(listed);
  return parsed.success ? parsed.data.name.slice(0, 100) : "(without a name)";
}
