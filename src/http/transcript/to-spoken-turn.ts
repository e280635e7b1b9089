import { MEMORY_TOOL, OUTCOME_TOOL, toolUseId } from "../../conversation/block.ts";
import { mediaOf } from "../../conversation/content.ts";
import type { SpokenTool, SpokenTurn, TranscriptPart } from "../../conversation/spoken-turn.ts";
import { inputText, authorOf, shownText, type InputAttachment } from "../../conversation/turn-record.ts";
import type { TurnTimings } from "../../conversation/turn-timings.ts";
import { asText, isRecord, type JsonValue } from "../../lib/json.ts";
import type { TranscriptBlock, TranscriptCall, TranscriptTurn } from "../../store/turns/load-transcript.ts";

export function toSpokenTurn(turn: TranscriptTurn): SpokenTurn {
  const { messageId: turnId, position, participantIdentity: participant, state, stopReason, heard } = turn;
  const attachments = turn.input.flatMap((part) => (part.type === "attachment" ? nameOf(part) : []));
  const saidBy = authorOf(turn);
  const said = inputText(turn.input);
  const shownAs = shownText(turn.input);
  return {
    turnId,
    position,
    at: turn.createdAt,
    ...(turn.finishedAt !== null && { endedAt: turn.finishedAt }),
    participant,
    ...(turn.parentMessageId !== null && { messageId: turn.parentMessageId, said }),
    ...(shownAs !== said && { shownAs }),
    ...(saidBy !== participant && { saidBy }),
    ...(attachments.length > 0 && { attachments }),
    answer: turn.blocks.flatMap((block) => toPart(block, turn) ?? []),
    state,
    ...(stopReason !== null && { stopReason }),
    ...(heard !== null && { heard }),
    ...(turn.timings !== null && { timings: timingsOf(turn, turn.timings) }),
    ...(turn.isReplaced && { isReplaced: true }),
  };
}

/** Returns a turn's timings without those of calls whose details may not be shown. */
function timingsOf(
  { calls, createdAt: startedAt }: TranscriptTurn,
  { parts = [], ...timings }: NonNullable<TranscriptTurn["timings"]>,
): TurnTimings {
  const hidden = Object.entries(calls).filter(([, { detail }]) => detail !== "full");
  const ids = new Set<string | undefined>(hidden.flatMap(([toolUseId, { callId }]) => [toolUseId, callId]));
  const visible = parts.filter(({ callId, toolUseId }) => !ids.has(callId) && !ids.has(toolUseId));
  return { startedAt, ...timings, parts: visible };
}

function nameOf({ name, block }: InputAttachment): string {
  return name ?? mediaOf(block)?.mediaType ?? "text/plain";
}

function toPart(block: TranscriptBlock, { blocks, calls }: TranscriptTurn): TranscriptPart | undefined {
  const { blockType, textContent, content, original } = block;
  if (blockType === "text") return { type: "text", text: textContent ?? "", ...(original !== null && { original }) };
  if (blockType !== "tool_use" && blockType !== "server_tool_use") return undefined;
  const id = toolUseId(block);
  const name = asText(content?.["tool_name"]);
  // Omit blocks that the worker wrote: an outcome is shown with its call, and memories are private to one participant.
  if (id === undefined || name === OUTCOME_TOOL || name === MEMORY_TOOL) return undefined;
  const call = Object.hasOwn(calls, id) ? calls[id] : undefined;
  if (call) return toCalledTool(call, { name, id, modelInput: content?.["input"] });
  const result = blocks.find((other) => other !== block && toolUseId(other) === id);
  const isAnthropic = blockType === "server_tool_use";
  const input = content?.["input"];
  const common = { type: "tool", name, toolUseId: id, ...(input !== undefined && { input }) } as const;
  return { ...common, ...(isAnthropic && { ranOn: "anthropic" as const }), ...outcomeOf(result) };
}

function toCalledTool(
  call: TranscriptCall,
  { name, id, modelInput }: { readonly name: string; readonly id: string; readonly modelInput: JsonValue | undefined },
): SpokenTool | undefined {
  const { callId, state, detail, input, isEdited, ranOn, mcpServer, addressee, logs, result, display, leftOutBytes } =
    call;
  const { stateChange, errorCode, errorMessage, startedAt, finishedAt, extraAnswers } = call;
  if (detail === "off") return undefined;
  if (detail === "name") return { type: "tool", name, state };
  return {
    type: "tool",
    name,
    state,
    toolUseId: id,
    callId,
    ...(ranOn !== null && { ranOn }),
    ...(mcpServer !== null && { mcpServer }),
    ...(addressee !== null && { participant: addressee }),
    ...(input !== null && { input }),
    ...(input !== null && isEdited && modelInput !== undefined && { modelInput }),
    ...(logs !== null && logs.length > 0 && { logs }),
    ...(result !== null && { result }),
    ...(display !== null && { display }),
    ...(leftOutBytes !== null && { leftOutBytes }),
    ...(stateChange !== null && { stateChange }),
    ...(errorCode !== null && { errorCode }),
    ...(errorMessage !== null && { errorMessage }),
    ...(startedAt !== null && { startedAt }),
    ...(finishedAt !== null && { finishedAt }),
    ...(extraAnswers.length > 0 && { extraAnswers }),
  };
}

/**
 * Returns the outcome that the model saw for a tool use without a call record, such as the use of an Anthropic tool.
 */
function outcomeOf(result: TranscriptBlock | undefined): Pick<SpokenTool, "state" | "result" | "errorMessage"> {
  const content = result?.content?.["content"];
  if (content === undefined) return { state: "pending" };
  if (result?.content?.["is_error"] === true) return { state: "error", errorMessage: asText(content) };
  const failure =
    isRecord(content) && asText(content["type"]).endsWith("_error") ? asText(content["error_code"]) : undefined;
  if (failure !== undefined) return { state: "error", errorMessage: failure };
  return { state: "success", result: content };
}
