import type { HistoryBlock, HistoryMessage } from "../../conversation/history.ts";
import type { MessagePart } from "./message-part.ts";
import { type RepresentationOptions, toMessageParts, toPartsByMessage } from "./to-message-parts.ts";

/** One of `gen_ai.input.messages`. */
interface ChatMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly parts: readonly MessagePart[];
}

/** One of `gen_ai.output.messages`. */
interface OutputMessage {
  readonly role: "assistant";
  readonly parts: readonly MessagePart[];
  readonly finish_reason: FinishReason;
}

/**
 * The model's history as GenAI messages. A user message's tool results become a message with the role `tool`. Which tools
 * came and went is left out: a call's own tools are shown beside its messages.
 */
export function toChatMessages(history: readonly HistoryMessage[], options: RepresentationOptions): ChatMessage[] {
  const messages = history.flatMap(({ role, blocks }) => (role === "system" ? [] : splitResults({ role, blocks })));
  const parts = toPartsByMessage(
    messages.map(({ blocks }) => blocks),
    options,
  );
  return messages.flatMap(({ role }, index) => {
    const own = parts[index] ?? [];
    // In Option 3 all parts of a message may have joined the message before it.
    return own.length > 0 ? [{ role, parts: own }] : [];
  });
}

/** The blocks of one model call as one message; for a whole turn, its text, calls and results. */
export function toOutputMessage(
  blocks: readonly HistoryBlock[],
  finishReason: FinishReason,
  options: RepresentationOptions,
): OutputMessage {
  return { role: "assistant", parts: toMessageParts(blocks, options), finish_reason: finishReason };
}

/** `gen_ai.system_instructions`. */
export function toSystemInstructions(system: string | undefined): MessagePart[] {
  return system === undefined || system.trim() === "" ? [] : [{ type: "text", content: system }];
}

interface RoleBlocks {
  readonly role: ChatMessage["role"];
  readonly blocks: readonly HistoryBlock[];
}

function splitResults({ role, blocks }: RoleBlocks): RoleBlocks[] {
  const isResult = (block: HistoryBlock) => role === "user" && block.blockType === "tool_result";
  const results = blocks.filter(isResult);
  const rest = blocks.filter((block) => !isResult(block));
  return [
    { role: "tool" as const, blocks: results },
    { role, blocks: rest },
  ].filter((each) => each.blocks.length > 0);
}

/** GenAI's own words, or the API's where GenAI has none (`pause_turn`). */
type FinishReason = "stop" | "length" | "content_filter" | "tool_call" | "error" | (string & {});

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
  ["tool_use", "tool_call"],
]);

/** `undefined` stands for a call without a stop reason: it failed or was aborted. */
export function toFinishReason(stopReason: string | undefined): FinishReason {
  return stopReason === undefined ? "error" : (FINISH_REASONS.get(stopReason) ?? stopReason);
}
