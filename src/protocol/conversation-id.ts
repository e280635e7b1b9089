const ROOM_PREFIX = "conv_";

/** A room `conv_ac_X` has the conversation `ac_X`. In any other room, the conversation's id is the room's name. */
export function conversationIdOfRoom(roomName: string): string {
  return /^conv_ac_./s.test(roomName) ? roomName.slice(ROOM_PREFIX.length) : roomName;
}

/** How agents' identities begin. `POST /token` gives such an identity to nobody. */
export const AGENT_PREFIX = "agent-";

/** The identity of a job's agent in its room. */
export function agentIdentity(jobId: string): string {
  return `${AGENT_PREFIX}${jobId}`;
}
