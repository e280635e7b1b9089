import { toolUseId, type TurnBlock } from "./block.ts";

/** One model call of a turn: what the model wrote, and the results of the tools it used. */
export interface Step {
  readonly blocks: readonly TurnBlock[];
  /** By tool_use_id; a tool use without a stored result has no entry. */
  readonly results: ReadonlyMap<string, TurnBlock>;
}

/**
 * Cuts a turn's blocks into steps that the API accepts as assistant messages: a step ends where results follow it, or
 * where text would follow a tool use (C7.3). What the API refuses is left out: empty text, thinking without a
 * signature, thinking at the very end of a message, and one half of a server tool's pair.
 *
 * @param isOpen the turn is running and its last step may wait for its server tools' results (C7.6, C7.7)
 */
export function toSteps(blocks: readonly TurnBlock[], isOpen: boolean): Step[] {
  const results = new Map<string, TurnBlock>();
  for (const block of blocks) {
    const id = toolUseId(block);
    if (block.blockType === "tool_result" && id !== undefined && !results.has(id)) results.set(id, block);
  }
  const drafts = cut(blocks);
  const isPaired = serverPairs(blocks);
  return drafts.flatMap((draft, index) => {
    const isLast = isOpen && index === drafts.length - 1;
    const kept = draft.filter((block) => isValid(block) && (isLast || isPaired(block)));
    if (!isLast) while (isThinking(kept.at(-1))) kept.pop();
    return kept.length > 0 ? [{ blocks: kept, results }] : [];
  });
}

function cut(blocks: readonly TurnBlock[]): TurnBlock[][] {
  const drafts: TurnBlock[][] = [];
  let draft: TurnBlock[] = [];
  let hasToolUse = false;
  const close = () => {
    if (draft.length > 0) drafts.push(draft);
    draft = [];
    hasToolUse = false;
  };
  for (const block of blocks) {
    if (block.blockType === "tool_result") {
      if (hasToolUse) close();
      continue;
    }
    if (block.blockType === "text" && hasToolUse) close();
    draft.push(block);
    hasToolUse ||= block.blockType === "tool_use";
  }
  close();
  return drafts;
}

function isValid(block: TurnBlock): boolean {
  if (block.blockType === "text") return block.textContent !== null && block.textContent.trim() !== "";
  if (block.blockType === "thinking")
    return typeof block.content?.["signature"] === "string" && block.content["signature"] !== "";
  if (block.blockType === "tool_use") return toolUseId(block) !== undefined;
  return true;
}

/** Server tools are paired by id, over the whole turn: a mixed step gets its server result in the next one. */
function serverPairs(blocks: readonly TurnBlock[]): (block: TurnBlock) => boolean {
  const idsOf = (...types: string[]) =>
    new Set(blocks.filter((block) => types.includes(block.blockType)).map((block) => toolUseId(block)));
  const used = idsOf("server_tool_use", "mcp_tool_use");
  const answered = idsOf("server_tool_result", "mcp_tool_result");
  return (block) => {
    if (block.blockType === "server_tool_use" || block.blockType === "mcp_tool_use")
      return answered.has(toolUseId(block));
    if (block.blockType === "server_tool_result" || block.blockType === "mcp_tool_result")
      return used.has(toolUseId(block));
    return true;
  };
}

function isThinking(block: TurnBlock | undefined): boolean {
  return block?.blockType === "thinking" || block?.blockType === "redacted_thinking";
}
