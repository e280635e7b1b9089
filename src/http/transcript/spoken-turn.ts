import { OUTCOME_TOOL, toolUseId, type TurnBlock } from "../../conversation/block.ts";
import type { CallState } from "../../conversation/call.ts";
import { mediaOf } from "../../conversation/content.ts";
import { saidIn, type InputAttachment } from "../../conversation/turn-record.ts";
import { asText, isRecord, type JsonValue } from "../../lib/json.ts";
import { MEMORY_TOOL } from "../../session/memory/told-memories.ts";
import type { TranscriptCall, TranscriptTurn } from "../../store/turns/load-transcript.ts";

/** A tool in a transcript. Of a tool with `stateDetail: "name"`, only `name` and `state` are told. */
export interface SpokenTool {
  readonly type: "tool";
  readonly name: string;
  readonly state: CallState;
  readonly toolUseId?: string;
  readonly callId?: string;
  readonly ranOn?: "server" | "client" | "anthropic";
  /** On whose device it ran. */
  readonly participant?: string;
  readonly input?: JsonValue;
  readonly result?: JsonValue;
  /** What clients were given to display. */
  readonly display?: JsonValue;
  readonly errorCode?: string;
  readonly errorMessage?: string;
}

type SpokenPart = { readonly type: "text"; readonly text: string } | SpokenTool;

/** A turn as a transcript shows it. A field without a value is absent. Times are Unix ms. */
export interface SpokenTurn {
  readonly turnId: string;
  readonly position: number;
  readonly at: number;
  readonly endedAt?: number;
  readonly participant: string;
  /** What the participant said; absent when the worker began the turn, to tell of a tool's outcome. */
  readonly said?: string;
  /** What came with that: names, or media types. */
  readonly attachments?: readonly string[];
  readonly answer: readonly SpokenPart[];
  readonly state: TranscriptTurn["state"];
  readonly stopReason?: string;
  /** What was heard of an answer whose speech was cut off. */
  readonly heard?: string;
  readonly isReplaced?: boolean;
}

export function toSpokenTurn(turn: TranscriptTurn): SpokenTurn {
  const { messageId: turnId, position, participantIdentity: participant, state, stopReason, heard } = turn;
  const attachments = turn.input.flatMap((part) => (part.type === "attachment" ? nameOf(part) : []));
  return {
    turnId,
    position,
    at: turn.createdAt,
    ...(turn.finishedAt !== null && { endedAt: turn.finishedAt }),
    participant,
    ...(turn.parentMessageId !== null && { said: saidIn(turn.input) }),
    ...(attachments.length > 0 && { attachments }),
    answer: turn.blocks.flatMap((block) => toPart(block, turn) ?? []),
    state,
    ...(stopReason !== null && { stopReason }),
    ...(heard !== null && { heard }),
    ...(turn.isReplaced && { isReplaced: true }),
  };
}

function nameOf({ name, block }: InputAttachment): string {
  return name ?? mediaOf(block)?.mediaType ?? "text/plain";
}

function toPart(block: TurnBlock, { blocks, calls }: TranscriptTurn): SpokenPart | undefined {
  const { blockType, textContent, content } = block;
  if (blockType === "text") return { type: "text", text: textContent ?? "" };
  if (blockType !== "tool_use" && blockType !== "server_tool_use") return undefined;
  const id = toolUseId(block);
  const name = asText(content?.["tool_name"]);
  // The worker wrote these: an outcome is shown with the call that it is of, and what is remembered is for one person.
  if (id === undefined || name === OUTCOME_TOOL || name === MEMORY_TOOL) return undefined;
  const call = Object.hasOwn(calls, id) ? calls[id] : undefined;
  if (call) return toCalledTool(call, { name, id });
  const result = blocks.find((other) => other !== block && toolUseId(other) === id);
  const isAnthropic = blockType === "server_tool_use";
  const input = content?.["input"];
  const common = { type: "tool", name, toolUseId: id, ...(input !== undefined && { input }) } as const;
  return { ...common, ...(isAnthropic && { ranOn: "anthropic" as const }), ...outcomeOf(result) };
}

function toCalledTool(
  call: TranscriptCall,
  { name, id }: { readonly name: string; readonly id: string },
): SpokenTool | undefined {
  const { callId, state, detail, input, ranOn, addressee, result, display, errorCode, errorMessage } = call;
  if (detail === "off") return undefined;
  if (detail === "name") return { type: "tool", name, state };
  return {
    type: "tool",
    name,
    state,
    toolUseId: id,
    callId,
    ...(ranOn !== null && { ranOn }),
    ...(addressee !== null && { participant: addressee }),
    input,
    ...(result !== null && { result }),
    ...(display !== null && { display }),
    ...(errorCode !== null && { errorCode }),
    ...(errorMessage !== null && { errorMessage }),
  };
}

/** What the model was told of a use that is no call of ours, such as one of Anthropic's tools. */
function outcomeOf(result: TurnBlock | undefined): Pick<SpokenTool, "state" | "result" | "errorMessage"> {
  const told = result?.content?.["content"];
  if (told === undefined) return { state: "pending" };
  if (result?.content?.["is_error"] === true) return { state: "error", errorMessage: asText(told) };
  const failure = isRecord(told) && asText(told["type"]).endsWith("_error") ? asText(told["error_code"]) : undefined;
  if (failure !== undefined) return { state: "error", errorMessage: failure };
  return { state: "success", result: told };
}
