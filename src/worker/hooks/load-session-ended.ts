import type { SessionEnded } from "../../agent/hooks.ts";
import type { SpokenTurn } from "../../conversation/spoken-turn.ts";
import { spokenTurns } from "../../http/transcript/write-transcript.ts";
import type { Sql } from "../../store/database/pool.ts";
import { type EndedRoom, loadEndedRoom } from "../../store/sessions/ended-rooms.ts";
import type { SessionRoom } from "../../store/sessions/session-rooms.ts";

const MAX_TURNS = 1_000;
const MAX_BYTES = 1_000_000;

/**
 * Loads the data about a session's end for hooks and webhooks; `undefined` if the session was deleted.
 *
 * @throws {AppError}
 */
export async function loadSessionEnded(sql: Sql, room: SessionRoom): Promise<SessionEnded | undefined> {
  const ended = await loadEndedRoom(sql, room);
  return ended && withTurns(sql, room, ended);
}

/** Like `loadSessionEnded`, for a room that is already loaded. @throws {AppError} */
export async function withTurns(
  sql: Sql,
  { sessionId, roomSid }: SessionRoom,
  { afterPosition, lastPosition, ...ended }: EndedRoom,
): Promise<SessionEnded> {
  const after = Math.max(afterPosition, lastPosition - MAX_TURNS);
  const turns = await newest(spokenTurns(sql, { sessionId, after, last: lastPosition }));
  const first = turns[0]?.position ?? lastPosition + 1;
  return { sessionId, roomSid, ...ended, turns, turnsLeftOut: Math.max(0, first - afterPosition - 1) };
}

/** Returns the last turns that fit into `MAX_BYTES`. Older ones are dropped while reading, to limit memory. */
async function newest(all: AsyncIterable<SpokenTurn>): Promise<SpokenTurn[]> {
  const kept: { readonly turn: SpokenTurn; readonly bytes: number }[] = [];
  let sum = 0;
  for await (const turn of all) {
    const bytes = Buffer.byteLength(JSON.stringify(turn));
    kept.push({ turn, bytes });
    sum += bytes;
    while (sum > MAX_BYTES) sum -= kept.shift()?.bytes ?? sum;
  }
  return kept.map(({ turn }) => turn);
}
