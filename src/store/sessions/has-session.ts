import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** Whether a session, of whatever room, goes by this id: its own or its conversation's. */
export async function hasSession(sql: Sql, { id }: { readonly id: string }): Promise<boolean> {
  const rows = await runQuery(sql`select from sessions where id = ${id} or conversation_id = ${id}`);
  return rows.length > 0;
}
