import { toolUseId, type TurnBlock } from "./block.ts";

/** One model call of a turn: the model's blocks and the results of the tools that it used. */
export interface Step {
  readonly blocks: readonly TurnBlock[];
  /** The turn's stored tool results, by tool_use_id. A tool use without a stored result has no entry. */
  readonly results: ReadonlyMap<string, TurnBlock>;
}

export interface StepOptions {
  /** Whether the turn is still running. If so, tools that Anthropic runs may still have no result in the last step. */
  readonly isOpen: boolean;
  /** Whether the running turn's last step ended with `pause_turn`. If so, the step is sent back unchanged. */
  readonly isPaused: boolean;
  /**
   * The tool use ids of earlier turns. `toSteps` adds this turn's ids, and drops a tool use whose id is already in the
   * set.
   */
  readonly usedIds: UsedIds;
}

/** A set of tool use ids on top of an existing set, which is not copied because it may be large. */
export class UsedIds {
  readonly #before: Pick<UsedIds, "has"> | undefined;
  readonly #added = new Set<string>();

  /** @param before must not change while this set is in use */
  constructor(before?: Pick<UsedIds, "has">) {
    this.#before = before;
  }

  has(id: string): boolean {
    return this.#added.has(id) || (this.#before?.has(id) ?? false);
  }

  add(id: string): void {
    this.#added.add(id);
  }
}

/**
 * Splits a turn's blocks into steps that the API accepts as assistant messages. A step ends before tool results, or
 * before text that follows a tool use (docs/sources.md). Drops the blocks that the API rejects:
 *
 * - empty text
 * - thinking that is unsigned, or at the end of a message
 * - a tool use with a repeated id
 * - of a tool that Anthropic runs: a use without its result, or a result without its use
 */
export function toSteps(blocks: readonly TurnBlock[], { isOpen, isPaused, usedIds }: StepOptions): Step[] {
  const results = new Map<string, TurnBlock>();
  for (const block of blocks) {
    const id = toolUseId(block);
    if (block.blockType === "tool_result" && id !== undefined && !results.has(id)) results.set(id, block);
  }
  const drafts = cut(blocks.filter((block) => isValid(block) && isNew(block, usedIds)));
  const paired = serverPairs(drafts);
  return drafts.flatMap((draft, index) => {
    const isLast = isOpen && index === drafts.length - 1;
    const mayWait = isLast && (isPaused || draft.some(isToolUse));
    const isKept = (block: TurnBlock) => {
      if (isServerUse(block)) return paired.has(block) || mayWait;
      return !isServerToolResult(block) || paired.has(block);
    };
    const kept = draft.filter(isKept);
    if (!isLast || !isPaused) while (isThinking(kept.at(-1))) kept.pop();
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
    hasToolUse ||= isToolUse(block);
  }
  close();
  return drafts;
}

function isValid(block: TurnBlock): boolean {
  const { blockType, textContent, content } = block;
  if (blockType === "text") return textContent !== null && textContent.trim() !== "";
  if (blockType === "thinking") return isText(content?.["signature"]);
  if (blockType === "redacted_thinking") return isText(content?.["data"]);
  if (isToolUse(block) || isServerUse(block)) return toolUseId(block) !== undefined;
  return true;
}

/** Returns false for a tool use whose id is already in `usedIds`. Adds the id of a new tool use. */
function isNew(block: TurnBlock, usedIds: UsedIds): boolean {
  if (!isToolUse(block) && !isServerUse(block)) return true;
  const id = toolUseId(block) ?? "";
  const isFresh = !usedIds.has(id);
  usedIds.add(id);
  return isFresh;
}

/**
 * Returns the uses and results of Anthropic's tools that are placed as the API requires: a result must follow its use
 * in the same step. If that step also used other tools, the result may be at the beginning of the next step instead.
 */
function serverPairs(drafts: readonly TurnBlock[][]): ReadonlySet<TurnBlock> {
  const paired = new Set<TurnBlock>();
  const open = new Map<string, { readonly use: TurnBlock; readonly at: number }>();
  for (const [index, draft] of drafts.entries()) {
    const isAnswer = drafts[index - 1]?.some(isToolUse) ?? false;
    const [first] = draft;
    for (const block of draft) {
      const id = toolUseId(block) ?? "";
      if (isServerUse(block)) open.set(id, { use: block, at: index });
      if (!isServerToolResult(block)) continue;
      const call = open.get(id);
      const opensStep = block === first || (first !== undefined && isServerToolResult(first) && paired.has(first));
      if (call && (call.at === index || (call.at === index - 1 && isAnswer && opensStep))) {
        paired.add(call.use).add(block);
        open.delete(id);
      }
    }
  }
  return paired;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isToolUse(block: TurnBlock): boolean {
  return block.blockType === "tool_use";
}

function isServerUse({ blockType }: TurnBlock): boolean {
  return blockType === "server_tool_use" || blockType === "mcp_tool_use";
}

function isServerToolResult({ blockType }: TurnBlock): boolean {
  return blockType.endsWith("_tool_result");
}

function isThinking(block: TurnBlock | undefined): boolean {
  return block?.blockType === "thinking" || block?.blockType === "redacted_thinking";
}
