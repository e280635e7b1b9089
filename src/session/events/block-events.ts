import { type TurnBlock, toolUseId } from "../../conversation/block.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import { AppError } from "../../errors/app-error.ts";
import { cleanText } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { TurnEvent } from "../../turn/turn-event.ts";
import type { Participants } from "../participants/participants.ts";
import type { Recorder } from "../record/recorder.ts";
import { publishAfterStored } from "./publish-after-stored.ts";
import type { Outbox } from "../wire/outbox.ts";
import type { SessionWatcher, TurnSpoken } from "./session-event.ts";

type BlockEvent = MessageBody<"block_event">;

interface BlockEventsOptions {
  readonly outbox: Pick<Outbox, "send" | "post">;
  readonly participants: Pick<Participants, "withFeature">;
  readonly recorder: Pick<Recorder, "durable">;
}

/**
 * Sends turns to the clients that asked for them: BlockEvent for the feature `blocks`, ReasoningStep for
 * `reasoning_steps`. While no client has asked, no messages are created.
 */
export function createBlockEvents({ outbox, participants, recorder }: BlockEventsOptions): SessionWatcher {
  let steps = 0;
  const show: SessionWatcher = (event) => {
    if (event.type !== "turn") return;
    const { turn, event: turnEvent } = event;
    if (turnEvent.type === "turn_start") steps = turn.blocks.filter(isReasoning).length;
    const to = participants.withFeature("blocks");
    const body = to.length > 0 ? toBlockEvent(turn, turnEvent) : undefined;
    if (body) send(body, to, outbox);
    if (turnEvent.type !== "block_stop" || !isReasoning(turnEvent.block)) return;
    steps += 1;
    const { textContent } = turnEvent.block;
    const step = { id: createId(), messageId: turn.messageId, sequence: steps, content: textContent ?? "" };
    outbox.post({ type: "reasoning_step", body: step }, { to: participants.withFeature("reasoning_steps") });
  };
  return publishAfterStored(show, recorder);
}

function isReasoning({ blockType, textContent }: TurnBlock): boolean {
  return blockType === "thinking" && textContent !== null && textContent !== "";
}

/**
 * Sends a BlockEvent. If a block is too large for an envelope, its content is omitted: the client already has it from
 * the deltas.
 */
function send(body: BlockEvent, to: readonly string[], outbox: BlockEventsOptions["outbox"]): void {
  try {
    outbox.send({ type: "block_event", body }, { to }).sent.catch(() => {});
  } catch (error) {
    if (!(error instanceof AppError) || body.event !== "block_stop") throw error;
    const { textContent: _text, content: _content, ...rest } = body;
    outbox.post({ type: "block_event", body: rest }, { to });
  }
}

/**
 * Converts a turn event to a BlockEvent, if it is about a block, the turn's end or the end of its speech. `turnId` is
 * the StartAnswer's id.
 */
function toBlockEvent({ messageId: turnId }: TurnRecord, event: TurnEvent | TurnSpoken): BlockEvent | undefined {
  switch (event.type) {
    case "block_start": {
      const { sequence, blockType } = event;
      return { event: "block_start", turnId, sequence, type: blockType, blockType, ...event.tool };
    }
    case "block_delta": {
      const delta = cleanDelta(event.delta);
      return delta && { event: "block_delta", turnId, sequence: event.sequence, ...shownDelta(delta) };
    }
    case "block_stop":
      return toBlockStop(turnId, event.block);
    case "turn_complete":
      return {
        event: "turn_complete",
        turnId,
        state: event.state,
        ...(event.stopReason !== undefined && { stopReason: event.stopReason }),
        ...(event.timings && { timings: event.timings }),
      };
    case "turn_spoken": {
      const { type, state, heard, timings } = event;
      return { event: type, turnId, state, ...(heard !== undefined && { heard }), ...(timings && { timings }) };
    }
    case "turn_start":
    case "usage":
      return undefined;
  }
}

/**
 * Returns the `block_stop` of a block, with its stored content. Omits the content of the API's own summaries, which are
 * only for the model.
 */
export function toBlockStop(turnId: string, block: TurnBlock): BlockEvent & { readonly blockType: string } {
  const { sequence, blockType, textContent, content } = block;
  return {
    event: "block_stop",
    turnId,
    sequence,
    type: blockType,
    blockType,
    ...toolOf(block),
    ...(textContent !== null && { textContent }),
    ...(content !== null && blockType !== "compaction" && { content }),
  };
}

/** Returns the fields that identify a block's tool: for a tool use its id and name, for a result the tool use's id. */
export function toolOf({ blockType, content }: TurnBlock): { toolUseId?: string; toolName?: string } {
  if (!blockType.includes("tool")) return {};
  const id = toolUseId({ content });
  const name = content?.["tool_name"];
  return { ...(id !== undefined && { toolUseId: id }), ...(typeof name === "string" && { toolName: name }) };
}

/**
 * Converts a delta for clients. For clients of version 0.1, `delta` repeats a text. It does not repeat a tool result,
 * which may be long.
 */
export function shownDelta(delta: JsonObject): Pick<BlockEvent, "text" | "result" | "delta"> {
  const { text, content } = delta;
  if (typeof content === "string") return { result: content };
  return typeof text === "string" ? { text, delta } : { delta };
}

/** Returns a delta with cleaned text, or `undefined` if it contains nothing to show, such as a signature. */
export function cleanDelta(delta: Extract<TurnEvent, { type: "block_delta" }>["delta"]): JsonObject | undefined {
  switch (delta.type) {
    case "text":
    case "thinking":
      return { type: delta.type, text: cleanText(delta.text) };
    case "input_json":
      return { type: delta.type, partialJson: cleanText(delta.partialJson) };
    case "tool_result":
      return { type: delta.type, content: cleanText(delta.content) };
    case "other":
      return undefined;
  }
}
