import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { type SessionRecord, loadSession } from "../../store/sessions/sessions.ts";
import { type Sql } from "../../store/database/pool.ts";
import { type RoomAccess } from "./room-access.ts";

/** The session of the token's room, if that has one. */
export async function findRoomSession(sql: Sql, { room }: RoomAccess): Promise<SessionRecord | undefined> {
  const session = await loadSession(sql, { conversationId: conversationIdOfRoom(room) });
  return session?.room === room ? session : undefined;
}

/** A session goes by two ids. */
export function hasId(session: SessionRecord, id: string): boolean {
  return id === session.id || id === session.conversationId;
}
