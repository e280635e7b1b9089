import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";
import { matchesGlob, starStates } from "../../lib/glob.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import { TOOL_NAME } from "../../protocol/limits.ts";
import { type ToolContext, defineTool } from "../define-tool.ts";
import { type ServerTool, toServerTool } from "../server-tool.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { compileMcpSchema } from "./mcp-schema.ts";

const MAX_DESCRIPTION_LENGTH = 4_000;

/** The fields of a `tools/list` entry that we read. */
const listedSchema = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.unknown(),
  annotations: z.looseObject({ readOnlyHint: z.unknown(), idempotentHint: z.unknown() }).partial().optional(),
  execution: z.looseObject({ taskSupport: z.unknown() }).partial().optional(),
});

interface McpToolOptions {
  readonly server: string;
  readonly timeoutMs: number;
  /** Calls the tool by the name that the server listed. */
  readonly call: (tool: string, input: unknown, context: Omit<ToolContext, "settings">) => Promise<unknown>;
  readonly isDisconnected: () => boolean;
}

/** Converts an entry of a server's tool list. @throws {TypeError} saying why the tool cannot be used; safe to log */
export function toMcpTool(listed: unknown, { server, timeoutMs, call, isDisconnected }: McpToolOptions): ServerTool {
  const parsed = listedSchema.safeParse(listed);
  if (!parsed.success) throw new TypeError(`its ${parsed.error.issues[0]?.path.join(".") || "entry"} cannot be read`);
  const { name, title, description = title, inputSchema, annotations = {}, execution = {} } = parsed.data;
  const ownName = mcpToolName(server, name);
  if (!TOOL_NAME.test(ownName)) throw new TypeError(`the name "${ownName.slice(0, 200)}" is longer than 64 characters`);
  if (execution.taskSupport === "required") throw new TypeError("it can only run as a task, which is not supported");
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
  return {
    ...toServerTool(ownName, tool, undefined),
    input: compileMcpSchema(inputSchema),
    mcpServer: server,
    isDisconnected,
  };
}

/** Returns the prefix of a server's tool names. */
export function toolPrefix(server: string): string {
  return `${server}_`;
}

/** Returns the name that the model uses for a server's tool. It may be too long. */
function mcpToolName(server: string, tool: string): string {
  return `${toolPrefix(server)}${tool.replaceAll(/[^a-zA-Z0-9_-]/gu, "_")}`;
}

/** Returns a listed tool's own name, shortened for the log. */
export function listedName(listed: unknown): string {
  return wholeName(listed).slice(0, 100) || "(without a name)";
}

function wholeName(listed: unknown): string {
  return isRecord(listed) && typeof listed["name"] === "string" ? listed["name"] : "";
}

export const MAX_TOOLS = 128;
const MAX_PAGES = 32;
/**
 * How many characters of a name are matched. Longer names are rejected anyway, and a server may send names of any
 * length.
 */
const MAX_MATCHED_LENGTH = 1_000;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/**
 * Returns the entries of a server's list whose names match one of the patterns. They are not validated here, so that
 * one invalid tool does not affect the others.
 */
export async function listTools(
  client: Client,
  { timeoutMs, tools: patterns }: Pick<McpServerConfig, "timeoutMs" | "tools">,
): Promise<readonly unknown[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const wanted = patterns.map(starStates);
  const isWanted = (listed: unknown) => {
    const name = wholeName(listed).slice(0, MAX_MATCHED_LENGTH);
    return wanted.some((places) => matchesGlob(places, name));
  };
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length <= MAX_TOOLS; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, pageSchema, { timeout: timeoutMs });
    tools.push(...answer.tools.filter(isWanted).slice(0, MAX_TOOLS + 1));
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}
