const ROOM_PREFIX = "conv_";

/** A room `conv_ac_X` holds the conversation `ac_X`; any other room's conversation has the room's own name. */
export function conversationIdOfRoom(roomName: string): string {
  return /^conv_ac_./s.test(roomName) ? roomName.slice(ROOM_PREFIX.length) : roomName;
}

/** How identities of agents begin; no token of ours gives such a one to anybody else. */
export const AGENT_PREFIX = "agent-";

/** The identity of a job's agent in its room. */
export function agentIdentity(jobId: string): string {
  return `${AGENT_PREFIX}${jobId}`;
}
