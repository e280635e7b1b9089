import { setTimeout as sleep } from "node:timers/promises";
import { ParticipantKind, type Room, RoomEvent } from "@livekit/rtc-node";
import { GONE_ATTRIBUTES } from "../../protocol/attributes.ts";

/** How long LiveKit may take to receive the attributes that mark the agent as gone. */
const MARKED_WITHIN_MS = 1_000;
/** How long to wait for a successor: as long as LiveKit lists an agent whose process was killed. */
const SUCCEEDED_WITHIN_MS = 20_000;

/**
 * Marks the room's agent as gone. The agent must not leave yet, because LiveKit's own clients would end their session
 * (see `Succession`). Never rejects.
 *
 * @returns an object whose `mayLeave` resolves when a successor has removed the agent, or when no successor has joined
 *   in time
 */
export async function awaitSuccessor(room: Room): Promise<{ readonly mayLeave: Promise<void> }> {
  const isAgent = ({ kind }: { readonly kind: ParticipantKind }) => kind === ParticipantKind.AGENT;
  const isAlone = [...room.remoteParticipants.values()].every(isAgent);
  if (!room.isConnected || !room.localParticipant || isAlone) return { mayLeave: Promise.resolve() };
  const { promise: disconnected, resolve } = Promise.withResolvers<void>();
  room.on(RoomEvent.Disconnected, () => resolve());
  const marked = room.localParticipant.setAttributes(GONE_ATTRIBUTES).catch(() => {});
  await Promise.race([marked, disconnected, sleep(MARKED_WITHIN_MS)]);
  return { mayLeave: Promise.race([disconnected, sleep(SUCCEEDED_WITHIN_MS, undefined, { ref: false })]) };
}
