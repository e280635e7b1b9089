const ROOM_PREFIX = "conv_";

/** Returns the id of a room's conversation: `ac_X` for a room `conv_ac_X`, otherwise the room's name. */
export function conversationIdOfRoom(roomName: string): string {
  return /^conv_ac_./s.test(roomName) ? roomName.slice(ROOM_PREFIX.length) : roomName;
}

/** Prefix of agents' identities. `POST /token` never issues a token for such an identity. */
export const AGENT_PREFIX = "agent-";

export function agentIdentity(jobId: string): string {
  return `${AGENT_PREFIX}${jobId}`;
}
