import { toolUseId, type TurnBlock } from "../conversation/block.ts";
import type { HistoryMessage } from "../conversation/history.ts";
import type { UsedIds } from "../conversation/steps.ts";
import { createId } from "../lib/id.ts";
import { isRecord, type JsonObject } from "../lib/json.ts";
import type { BlockDelta, ModelBlock, ModelEvent, StopReason, Usage } from "../llm/model-event.ts";
import type { ToolUse } from "../tool/calls/call-ports.ts";
import type { StepToolUses } from "./step-tool-uses.ts";
import type { TurnDraft } from "./turn-draft.ts";
import type { TurnEvent } from "./turn-event.ts";

/** What changes between model calls. The session determines the rest (model, system, tools). */
export interface StepRequest {
  readonly history: readonly HistoryMessage[];
  readonly toolChoice: "auto" | "none";
  /** Whether part of the conversation is missing from the history. */
  readonly isCompacted: boolean;
  /** The code execution container of an earlier step of the turn. */
  readonly containerId?: string;
}

export interface StepDependencies {
  readonly draft: TurnDraft;
  readonly openStream: (request: StepRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;
  /** Receives each complete tool_use block, in order, while the model is still streaming. */
  readonly uses: StepToolUses;
  /** Returns the conversation's tool use ids so far. A repeated id is replaced, because the API requires unique ids. */
  readonly usedIds: () => UsedIds;
}

export interface StepEnd {
  readonly stopReason: StopReason | undefined;
  /** The call's tokens. If the call was cut off, the last figures received. */
  readonly usage: Usage | undefined;
  /** The model that was called last, if there is a list of models. */
  readonly model?: string;
  /** How many tokens the request had. Absent if no response arrived. */
  readonly promptTokens?: number;
  readonly containerId?: string;
  /** Set if the stream broke, stalled or was aborted. Complete blocks, and partial text and thinking, are kept. */
  readonly error: { readonly reason: unknown } | undefined;
}

interface BegunBlock {
  readonly sequence: number;
  readonly blockType: TurnBlock["blockType"];
  readonly toolUseId: string | undefined;
  text: string;
  /** What the model wrote. Differs from `text` if the hook `onAnswer` changed it. */
  original: string;
}

/** Makes one model call and streams its blocks into the draft. If the call fails, the returned step has an `error`. */
export async function* runStep(
  request: StepRequest,
  deps: StepDependencies,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, StepEnd> {
  const open = new Map<number, BegunBlock>();
  let end: StepEnd = { stopReason: undefined, usage: undefined, error: undefined };
  try {
    for await (const event of deps.openStream(request, signal)) {
      signal.throwIfAborted();
      switch (event.type) {
        case "retry":
        case "model_failed":
          break;
        case "model_selected":
          end = { ...end, model: event.model };
          break;
        case "message_start":
          end = { ...end, usage: event.usage, promptTokens: promptOf(event.usage) };
          break;
        case "block_start":
          yield startBlock(event, open, deps);
          break;
        case "block_delta": {
          const block = open.get(event.index);
          if (!block) break;
          addText(block, event.delta);
          yield { type: "block_delta", sequence: block.sequence, delta: event.delta };
          break;
        }
        case "block_stop": {
          const block = open.get(event.index);
          if (!block) break;
          open.delete(event.index);
          const placed = deps.draft.put(block.sequence, renamed(event.block, block.toolUseId));
          yield { type: "block_stop", sequence: block.sequence, block: placed };
          if (placed.blockType === "tool_use") deps.uses.add(toToolUse(placed, event.inputError));
          break;
        }
        case "message_stop":
          end = { ...end, stopReason: event.stopReason, usage: event.usage, ...containerOf(event) };
          break;
      }
    }
  } catch (reason) {
    end = { ...end, error: { reason } };
  }
  yield* keepPartial(open, deps.draft);
  deps.draft.storeText(end.stopReason);
  return end;
}

/**
 * Returns the size of the prompt, in tokens. Call this with the usage from message_start: if the API runs its own
 * tools, later figures count the prompt once per internal step.
 */
function promptOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

function containerOf({ containerId }: { readonly containerId?: string }): { containerId?: string } {
  return containerId === undefined ? {} : { containerId };
}

function startBlock(
  event: Extract<ModelEvent, { type: "block_start" }>,
  open: Map<number, BegunBlock>,
  deps: StepDependencies,
): TurnEvent {
  const { blockType } = event;
  const sequence = deps.draft.reserve();
  let tool = event.tool;
  if (tool && blockType === "tool_use") {
    if (deps.usedIds().has(tool.toolUseId)) tool = { ...tool, toolUseId: `toolu_${createId()}` };
    deps.usedIds().add(tool.toolUseId);
  }
  open.set(event.index, { sequence, blockType, toolUseId: tool?.toolUseId, text: "", original: "" });
  return { type: "block_start", sequence, blockType, ...(tool && { tool }) };
}

function addText(block: BegunBlock, delta: BlockDelta): void {
  if (delta.type !== "text" && delta.type !== "thinking") return;
  block.text += delta.text;
  block.original += (delta.type === "text" && delta.original) || delta.text;
}

/**
 * Keeps the text and thinking of unfinished blocks, because the participant has received them. Drops all other blocks.
 */
function* keepPartial(open: Map<number, BegunBlock>, draft: TurnDraft): Generator<TurnEvent> {
  for (const { sequence, blockType, text, original } of [...open.values()].toReversed()) {
    if (original === "" || (blockType !== "text" && blockType !== "thinking")) {
      draft.release(sequence);
      continue;
    }
    const changed = original !== text && { original };
    const block = draft.put(sequence, { blockType, textContent: text, content: null, ...changed });
    yield { type: "block_stop", sequence, block };
  }
}

function renamed(block: ModelBlock, id: string | undefined): ModelBlock {
  if (block.blockType !== "tool_use" || id === undefined || toolUseId(block) === id) return block;
  return { ...block, content: { ...block.content, tool_use_id: id } };
}

export function toToolUse(block: TurnBlock, inputError?: string): ToolUse {
  const name = block.content?.["tool_name"];
  const input = block.content?.["input"];
  return {
    toolUseId: toolUseId(block) ?? "",
    toolName: typeof name === "string" ? name : "",
    input: isRecord(input) ? (input as JsonObject) : {},
    ...(inputError !== undefined && { inputError }),
  };
}
