import { type Sql } from "../database/pool.ts";
import { selectTurns, type StoredTurn } from "./turn-rows.ts";

/** The session's whole record, oldest turn first: what history is built from. */
export async function loadTurns(sql: Sql, { sessionId }: { sessionId: string }): Promise<StoredTurn[]> {
  return await selectTurns(sql, { sessionId });
}
