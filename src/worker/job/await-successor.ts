import { setTimeout as sleep } from "node:timers/promises";
import { ParticipantKind, type Room, RoomEvent } from "@livekit/rtc-node";
import { GONE_ATTRIBUTES } from "../../protocol/attributes.ts";

/** How long LiveKit may take to hear that an agent has gone. */
const TOLD_WITHIN_MS = 1_000;
/** As long as LiveKit lists an agent whose process was killed. */
const SUCCEEDED_WITHIN_MS = 20_000;

/**
 * Says in the room that its agent serves it no more. The agent must not leave yet: LiveKit's own clients would end the
 * talk (see `Succession`). Never rejects.
 *
 * @returns resolves when the agent may leave: its successor has removed it, or none has come
 */
export async function awaitSuccessor(room: Room): Promise<{ readonly mayLeave: Promise<void> }> {
  const isAgent = ({ kind }: { readonly kind: ParticipantKind }) => kind === ParticipantKind.AGENT;
  const isAlone = [...room.remoteParticipants.values()].every(isAgent);
  if (!room.isConnected || !room.localParticipant || isAlone) return { mayLeave: Promise.resolve() };
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  room.on(RoomEvent.Disconnected, () => resolve());
  const told = room.localParticipant.setAttributes(GONE_ATTRIBUTES).catch(() => {});
  await Promise.race([told, isOver, sleep(TOLD_WITHIN_MS)]);
  return { mayLeave: Promise.race([isOver, sleep(SUCCEEDED_WITHIN_MS, undefined, { ref: false })]) };
}
