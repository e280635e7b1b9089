import type { IssuedContent } from "./issued-content.ts";
import type { Json } from "./step.ts";
import type { Message } from "./message.ts";

/**
 * Checks server tools: a call needs its result in the same message, unless the message pauses or also calls client
 * tools.
 */
export function* validateServerTools(
  body: Json,
  messages: readonly Message[],
  issued: IssuedContent,
): Generator<string> {
  const toolNames = (Array.isArray(body["tools"]) ? (body["tools"] as Json[]) : []).map((tool) => String(tool["name"]));
  let open: Json[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== "assistant") {
      const isOnlyResults = content.every(({ type }) => type === "tool_result");
      if (open.length > 0 && !isOnlyResults) yield unanswered(at - 1, open[0]);
      continue;
    }
    const calls = [...open, ...content.filter(isCall)];
    yield* validateResults(content, at, { calls, open, issued });
    const answered = new Set(content.filter(isResult).map((block) => block["tool_use_id"]));
    open = calls.filter(({ id }) => !answered.has(id));
    const isLast = at === messages.length - 1;
    const isMixed = content.some(({ type }) => type === "tool_use");
    if (open.length > 0 && !isLast && !isMixed) yield unanswered(at, open[0]);
    if (isMixed) continue;
    if (!isLast) open = [];
  }
  for (const { name } of open) {
    if (!isOffered(String(name), toolNames))
      yield `messages: server tool \`${String(name)}\` has a pending call but is not in \`tools\``;
  }
}

interface ResultContext {
  readonly calls: readonly Json[];
  /** Open calls in the previous message, which this message must answer first. */
  readonly open: readonly Json[];
  readonly issued: IssuedContent;
}

function* validateResults(
  content: readonly Json[],
  at: number,
  { calls, open, issued }: ResultContext,
): Generator<string> {
  const ids = calls.map(({ id }) => id);
  if (new Set(ids).size < ids.length) yield `messages.${at}: \`server_tool_use\` ids must be unique`;
  const seen = new Set<unknown>();
  for (const [index, block] of content.entries()) {
    const path = `messages.${at}.content.${index}`;
    if (!issued.isFaithful(block)) yield `${path}: \`${String(block["type"])}\` does not match the original response`;
    if (!isResult(block)) continue;
    const id = block["tool_use_id"];
    if (!ids.includes(id))
      yield `${path}: unexpected \`tool_use_id\` found in \`${String(block["type"])}\` blocks: ${String(id)}. Each \`${String(block["type"])}\` block must have a corresponding \`server_tool_use\` block before it.`;
    if (seen.has(id))
      yield `${path}: each server_tool_use must have a single result. Found multiple with id: ${String(id)}`;
    seen.add(id);
  }
  const first = content[0];
  if (open.length > 0 && !(first && isResult(first))) yield unanswered(at - 2, open[0]);
}

function unanswered(at: number, call: Json | undefined): string {
  const name = String(call?.["name"]);
  return `messages.${at}: \`${name}\` tool use with id \`${String(call?.["id"])}\` was found without a corresponding \`${name}_tool_result\` block`;
}

function isCall({ type }: Json): boolean {
  return type === "server_tool_use" || type === "mcp_tool_use";
}

function isResult({ type }: Json): boolean {
  return typeof type === "string" && type.endsWith("_tool_result");
}

/** Whether a tool is offered. The code execution tool is declared under one name and called under three. */
function isOffered(name: string, toolNames: readonly string[]): boolean {
  return toolNames.includes(name) || (name.endsWith("code_execution") && toolNames.includes("code_execution"));
}
