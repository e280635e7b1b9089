const ROOM_PREFIX = "conv_";

/** A room `conv_ac_X` holds the conversation `ac_X`; any other room's conversation has the room's own name. */
export function conversationIdOfRoom(roomName: string): string {
  return /^conv_ac_./s.test(roomName) ? roomName.slice(ROOM_PREFIX.length) : roomName;
}
