import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";
import { readJson } from "../../lib/clean-json.ts";
import type { JsonObject } from "../../lib/json.ts";
import { TOOL_NAME } from "../../protocol/limits.ts";
import { type ToolContext, defineTool } from "../define-tool.ts";
import { type InputSchema, compileForeignSchema } from "../input-schema.ts";
import { NOT_AT_ROOT, toModelSchema } from "../model-schema.ts";
import { type ServerTool, toServerTool } from "../server-tool.ts";

const MAX_DESCRIPTION_LENGTH = 4_000;

/** The fields of an entry of `tools/list` that we read. */
const listedSchema = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal("object") }),
  annotations: z.looseObject({ readOnlyHint: z.unknown(), idempotentHint: z.unknown() }).partial().optional(),
  execution: z.looseObject({ taskSupport: z.unknown() }).partial().optional(),
});

interface McpToolOptions {
  readonly server: string;
  readonly timeoutMs: number;
  /** Calls the tool by the name that the server gave it. */
  readonly call: (tool: string, input: unknown, context: Omit<ToolContext, "settings">) => Promise<unknown>;
  readonly isAway: () => boolean;
}

/** @throws {TypeError} says why the tool cannot be used; fit for the log */
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
  return { ...toServerTool(ownName, tool, undefined), input: compileMcpSchema(inputSchema), mcpServer: server, isAway };
}

/** The beginning of the names of a server's tools. */
export function toolPrefix(server: string): string {
  return `${server}_`;
}

/** The name that the model knows a server's tool by. It may be too long. */
function mcpToolName(server: string, tool: string): string {
  return `${toolPrefix(server)}${tool.replaceAll(/[^a-zA-Z0-9_-]/gu, "_")}`;
}

/** A listed tool's own name, cut for the log. */
export function listedName(listed: unknown): string {
  const parsed = z.looseObject({ name: z.string() }).safeParse(listed);
  return parsed.success ? parsed.data.name.slice(0, 100) : "(without a name)";
}

const MAX_SCHEMA_LENGTH = 32_768;

/**
 * Compiles a server's schema. The model sees nearly all of it; we check only keywords that are cheap to check, and
 * leave patterns and references out of the schema to the server. What the API refuses at the root is checked and not
 * shown, for the operator cannot change a server's schema.
 *
 * @throws {TypeError} says why the schema cannot be used
 */
export function compileMcpSchema(schema: unknown): InputSchema {
  const read = readJson(schema, "its schema");
  if ("fault" in read) throw new TypeError(read.fault);
  const clean = read.value as JsonObject;
  const { length } = JSON.stringify(clean);
  if (length > MAX_SCHEMA_LENGTH) throw new TypeError(`its schema is longer than ${MAX_SCHEMA_LENGTH} characters`);
  const atRoot = new Set<string>(NOT_AT_ROOT);
  const shown = Object.fromEntries(Object.entries(clean).filter(([key]) => !atRoot.has(key)));
  return compileForeignSchema(clean, toModelSchema(shown));
}

export const MAX_TOOLS = 128;
const MAX_PAGES = 32;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** All entries of a server's list, unchecked, so that one bad tool does not cost the others. */
export async function listTools(client: Client, timeoutMs: number): Promise<readonly unknown[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length <= MAX_TOOLS; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, pageSchema, { timeout: timeoutMs });
    tools.push(...answer.tools.slice(0, MAX_TOOLS + 1));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}
