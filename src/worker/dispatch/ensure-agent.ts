import { ParticipantKind } from "@livekit/rtc-node";
import { AgentDispatchClient, RoomServiceClient, TwirpError } from "livekit-server-sdk";
import { WAITING_ATTRIBUTE, WAITING_FOR_PLACE } from "../../protocol/attributes.ts";

export interface RoomClients {
  readonly rooms: RoomServiceClient;
  readonly dispatches: AgentDispatchClient;
}

export function createRoomClients(livekit: { url: string; apiKey: string; apiSecret: string }): RoomClients {
  const { url, apiKey, apiSecret } = livekit;
  const options = { requestTimeout: 5 };
  return {
    rooms: new RoomServiceClient(url, apiKey, apiSecret, options),
    dispatches: new AgentDispatchClient(url, apiKey, apiSecret, options),
  };
}

interface Asking {
  /** The participant of an agent that has died: LiveKit would keep it for up to 20 s. */
  readonly former?: string | undefined;
  /** Asked last: of many workers that find the same room, one asks. */
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Asks LiveKit for an agent when a room has participants but no agent, or `former` alone, which it removes first;
 * resolves to whether it asked.
 */
export async function ensureAgent(clients: RoomClients, room: string, { former, isAllowed }: Asking): Promise<boolean> {
  const participants = await clients.rooms.listParticipants(room).catch(ignoreMissing);
  const agents = participants.filter((participant) => Number(participant.kind) === ParticipantKind.AGENT);
  const dead = agents.find((agent) => agent.identity === former);
  const isNeeded = participants.length > agents.length && agents.every((agent) => agent === dead);
  if (isNeeded && !(await isAllowed())) return false;
  if (dead) await clients.rooms.removeParticipant(room, dead.identity).catch(ignoreMissing);
  if (!isNeeded) return false;
  await clients.dispatches.createDispatch(room, "");
  return true;
}

/** Lets the participants of a room without an agent know that all workers are full, as far as they do not know. */
export async function tellOfWaiting(clients: RoomClients, room: string): Promise<void> {
  const participants = await clients.rooms.listParticipants(room).catch(ignoreMissing);
  if (participants.some(({ kind }) => Number(kind) === ParticipantKind.AGENT)) return;
  const attributes = { [WAITING_ATTRIBUTE]: WAITING_FOR_PLACE };
  const unaware = participants.filter((each) => each.attributes[WAITING_ATTRIBUTE] !== WAITING_FOR_PLACE);
  await Promise.all(
    unaware.map(({ identity }) => clients.rooms.updateParticipant(room, identity, { attributes }).catch(ignoreMissing)),
  );
}

/** For a room that has ended, or a participant that has left, before we asked. */
function ignoreMissing(error: unknown): [] {
  if (error instanceof TwirpError && error.code === "not_found") return [];
  throw error;
}
