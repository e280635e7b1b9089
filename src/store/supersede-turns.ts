import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface Supersession {
  readonly sessionId: string;
  /** The turns from this position on, up to the new one, leave the talk. */
  readonly fromPosition: number;
  /** The turn that is there instead; it is stored already. */
  readonly turnId: string;
}

/** Takes turns out of the talk without touching their record. */
export async function supersedeTurns(sql: Sql, { sessionId, fromPosition, turnId }: Supersession): Promise<void> {
  await runQuery(sql`
    update turns set superseded_by = ${turnId}
    where session_id = ${sessionId} and position >= ${fromPosition} and superseded_by is null
      and position < (select position from turns where id = ${turnId})
  `);
}
