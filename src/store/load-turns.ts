import { type TurnRecord } from "../conversation/turn-record.ts";
import { type Sql } from "./pool.ts";
import { selectTurns } from "./turn-rows.ts";

/** The session's whole record, oldest turn first: what history is built from. */
export async function loadTurns(sql: Sql, { sessionId }: { sessionId: string }): Promise<TurnRecord[]> {
  return await selectTurns(sql, { sessionId, onlyRunning: false });
}
