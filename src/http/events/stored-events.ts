import type { TurnBlock } from "../../conversation/block.ts";
import { contentText } from "../../conversation/content.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import { memoizeByObject } from "../../lib/memoize-by-object.ts";
import { shownDelta, toBlockStop, toolOf } from "../../session/events/block-events.ts";
import type { LiveEvent } from "../../session/events/live-event.ts";
import type { FollowedTurn, RecordPoint } from "../../store/turns/load-turns-after.ts";
import type { SseEvent } from "../sse/sse-stream.ts";

/** Numbers have at most nine digits, so that they fit in PostgreSQL's `int`. */
const EVENT_ID = /^(\d{1,9})\.(\d{1,9}|end|spoken)$/;

/** The id of an SSE event: `<turn position>.<block sequence>`, `<turn position>.end` or `<turn position>.spoken`. */
function toEventId({ position, sequence }: RecordPoint): string {
  return `${position}.${sequence}`;
}

/** Returns `undefined` for a string that cannot be an event id. */
export function parseEventId(text: string): RecordPoint | undefined {
  const [, position, sequence] = EVENT_ID.exec(text) ?? [];
  if (position === undefined || sequence === undefined) return undefined;
  return {
    position: Number(position),
    sequence: sequence === "end" || sequence === "spoken" ? sequence : Number(sequence),
  };
}

export function turnStartEvent(turn: FollowedTurn): SseEvent {
  const { messageId: turnId, parentMessageId, participantIdentity } = turn;
  const data = {
    turnId,
    ...(parentMessageId !== null && { parentMessageId }),
    participantIdentity,
  };
  return { event: "turn_start", data };
}

export const blockStartEvent = memoizeByObject((block: TurnBlock, turn: FollowedTurn): SseEvent => {
  const { sequence, blockType } = block;
  return {
    event: "block_start",
    data: { turnId: turn.messageId, sequence, type: blockType, blockType, ...toolOf(block) },
  };
});

/**
 * Returns one delta with the whole block, for readers that received none of its deltas. Returns `undefined` if the
 * block has no deltas.
 */
export const wholeDeltaEvent = memoizeByObject((block: TurnBlock, turn: FollowedTurn): SseEvent | undefined => {
  const delta = wholeDelta(block);
  if (!delta) return undefined;
  return { event: "block_delta", data: { turnId: turn.messageId, sequence: block.sequence, ...shownDelta(delta) } };
});

export const blockStopEvent = memoizeByObject((block: TurnBlock, turn: FollowedTurn): SseEvent => {
  const { event, ...data } = toBlockStop(turn.messageId, block);
  return { event, id: toEventId({ position: turn.position, sequence: block.sequence }), data };
});

export function turnCompleteEvent(turn: FollowedTurn): SseEvent {
  const { messageId: turnId, position, state, stopReason, model, usage, errorCode, errorMessage } = turn;
  const data = {
    turnId,
    state,
    ...(stopReason !== null && { stopReason }),
    ...(model !== null && { model }),
    ...(usage !== null && { usage }),
    ...(errorCode !== null && { errorCode }),
    ...(errorMessage !== null && { errorMessage }),
  };
  return { event: "turn_complete", id: toEventId({ position, sequence: "end" }), data };
}

export function turnSpokenEvent({ messageId: turnId, position, spokenState: state, heard }: FollowedTurn): SseEvent {
  const data = { turnId, state, ...(heard !== null && { heard }) };
  return { event: "turn_spoken", id: toEventId({ position, sequence: "spoken" }), data };
}

function wholeDelta({ blockType, textContent, content }: TurnBlock): JsonObject | undefined {
  switch (blockType) {
    case "text":
    case "thinking":
      return textContent === null || textContent === "" ? undefined : { type: blockType, text: textContent };
    case "tool_use":
    case "server_tool_use":
      return { type: "input_json", partialJson: JSON.stringify(content?.["input"] ?? {}) };
    case "tool_result":
      return { type: blockType, content: contentText(content?.["content"]) };
    default:
      return undefined;
  }
}

/** Returns the SSE event for a live event that is sent before its block is stored, or that is never stored. */
export const liveEvent = memoizeByObject(({ event, data }: LiveEvent): SseEvent => {
  if (event !== "block_delta") return { event, data };
  const { delta, ...rest } = data;
  return { event, data: { ...rest, ...(isRecord(delta) && shownDelta(delta as JsonObject)) } };
});
