import { type Sql } from "./pool.ts";
import { selectTurns, type StoredTurn } from "./turn-rows.ts";

/** Turns that a worker left running: to whoever has just claimed the session, they are its unfinished work. */
export async function loadOpenTurns(sql: Sql, { sessionId }: { sessionId: string }): Promise<StoredTurn[]> {
  return await selectTurns(sql, { sessionId, onlyRunning: true });
}
