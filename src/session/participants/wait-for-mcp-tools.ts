import { toolUseId, type TurnBlock } from "../../conversation/block.ts";
import { abortable } from "../../lib/abortable.ts";
import type { LiveTools } from "../../tool/server-tool.ts";

/** How long to wait for MCP servers, which connect while a session is restored. */
const LISTED_WITHIN_MS = 5_000;

interface McpTools extends LiveTools {
  readonly serverTools: ReadonlyMap<string, unknown>;
}

/** Waits briefly for a new worker's MCP servers to list the tools of the turn's unanswered calls. Never rejects. */
export async function waitForMcpTools(
  blocks: readonly TurnBlock[],
  { serverTools, prefixes, onChanged }: McpTools,
  signal: AbortSignal,
): Promise<void> {
  const isMissing = (name: string) => !serverTools.has(name) && prefixes.some((prefix) => name.startsWith(prefix));
  const names = openUses(blocks);
  if (!names.some(isMissing)) return;
  const listed = Promise.withResolvers<void>();
  const stop = onChanged(() => {
    if (!names.some(isMissing)) listed.resolve();
  });
  const timer = setTimeout(listed.resolve, LISTED_WITHIN_MS);
  await abortable(listed.promise, signal).catch(() => {});
  clearTimeout(timer);
  stop();
}

function openUses(blocks: readonly TurnBlock[]): string[] {
  const results = new Set(blocks.filter(({ blockType }) => blockType === "tool_result").map(toolUseId));
  const open = blocks.filter((block) => block.blockType === "tool_use" && !results.has(toolUseId(block)));
  return open.flatMap(({ content }) => (typeof content?.["tool_name"] === "string" ? content["tool_name"] : []));
}
