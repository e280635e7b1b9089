import { type TurnRecord } from "../conversation/turn-record.ts";
import { type Sql } from "./pool.ts";
import { selectTurns } from "./turn-rows.ts";

/** Turns that a worker left running: to whoever has just claimed the session, they are its unfinished work. */
export async function loadOpenTurns(sql: Sql, { sessionId }: { sessionId: string }): Promise<TurnRecord[]> {
  return await selectTurns(sql, { sessionId, onlyRunning: true });
}
