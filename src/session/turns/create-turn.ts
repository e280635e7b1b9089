import type { TurnRecord } from "../../conversation/turn-record.ts";
import { createId } from "../../lib/id.ts";
import type { NewTurn } from "./turn-queue.ts";

/** Returns a new turn that is not stored yet. */
export function createTurn({ participant, messageId, input, opening = [] }: NewTurn, position: number): TurnRecord {
  return {
    id: createId(),
    position,
    participantIdentity: participant,
    parentMessageId: messageId,
    messageId: createId(),
    input,
    state: "running",
    blocks: opening,
  };
}
