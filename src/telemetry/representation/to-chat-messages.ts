import type { HistoryBlock, HistoryMessage } from "../../conversation/history.ts";
import type { MessagePart } from "./message-part.ts";
import { type RepresentationOptions, toMessageParts, toPartsByMessage } from "./to-message-parts.ts";

/** An entry of `gen_ai.input.messages`. */
interface ChatMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly parts: readonly MessagePart[];
}

/** An entry of `gen_ai.output.messages`. */
interface OutputMessage {
  readonly role: "assistant";
  readonly parts: readonly MessagePart[];
  readonly finish_reason: FinishReason;
}

/**
 * Converts the model's history to GenAI messages. The tool results in a user message become a message with the role
 * `tool`. Changes of tools are omitted, because each model call's tools are recorded next to its messages.
 */
export function toChatMessages(history: readonly HistoryMessage[], options: RepresentationOptions): ChatMessage[] {
  const messages = history.flatMap(({ role, blocks }) => (role === "system" ? [] : splitResults({ role, blocks })));
  const parts = toPartsByMessage(
    messages.map(({ blocks }) => blocks),
    options,
  );
  return messages.flatMap(({ role }, index) => {
    const own = parts[index] ?? [];
    // In Option 3, all parts of a message may have moved to the previous message.
    return own.length > 0 ? [{ role, parts: own }] : [];
  });
}

/** Converts a model call's blocks, or a turn's text, calls and results, to one message. */
export function toOutputMessage(
  blocks: readonly HistoryBlock[],
  finishReason: FinishReason,
  options: RepresentationOptions,
): OutputMessage {
  return { role: "assistant", parts: toMessageParts(blocks, options), finish_reason: finishReason };
}

/** Returns `gen_ai.system_instructions`. */
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

/** A GenAI finish reason, or the API's stop reason if GenAI has no equivalent (`pause_turn`). */
type FinishReason = "stop" | "length" | "content_filter" | "tool_call" | "error" | (string & {});

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
  ["tool_use", "tool_call"],
]);

/** Returns the finish reason of a model call. A call without a stop reason failed or was aborted. */
export function toFinishReason(stopReason: string | undefined): FinishReason {
  return stopReason === undefined ? "error" : (FINISH_REASONS.get(stopReason) ?? stopReason);
}
