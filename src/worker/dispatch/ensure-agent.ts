import { ParticipantKind } from "@livekit/rtc-node";
import { AgentDispatchClient, RoomServiceClient, TwirpError } from "livekit-server-sdk";

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

/**
 * Gives a room an agent when somebody is in it and no agent is. The participant of a dead agent, which LiveKit keeps
 * for up to 20 s, is removed first. Says whether it asked for a new one.
 */
export async function ensureAgent(clients: RoomClients, room: string, deadIdentity?: string): Promise<boolean> {
  const participants = await clients.rooms.listParticipants(room).catch(ignoreMissing);
  const agents = participants.filter((participant) => Number(participant.kind) === ParticipantKind.AGENT);
  const dead = agents.find((agent) => agent.identity === deadIdentity);
  if (dead) await clients.rooms.removeParticipant(room, dead.identity).catch(ignoreMissing);
  if (participants.length === agents.length || agents.some((agent) => agent !== dead)) return false;
  await clients.dispatches.createDispatch(room, "");
  return true;
}

/** The room or the participant ended before we asked: nothing is to be done there. */
function ignoreMissing(error: unknown): [] {
  if (error instanceof TwirpError && error.code === "not_found") return [];
  throw error;
}
