import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface Supersession {
  readonly sessionId: string;
  /** This turn and all after it, up to the new one, leave the talk. */
  readonly fromTurnId: string;
  /** The turn that is there instead; it is stored already. */
  readonly turnId: string;
}

/** Takes turns out of the talk without touching their record. */
export async function supersedeTurns(sql: Sql, { sessionId, fromTurnId, turnId }: Supersession): Promise<void> {
  await runQuery(sql`
    update turns set superseded_by = ${turnId}
    where session_id = ${sessionId} and superseded_by is null
      and position >= (select position from turns where id = ${fromTurnId})
      and position < (select position from turns where id = ${turnId})
  `);
}
