import { type InputText, type TurnRecord } from "../conversation/turn-record.ts";
import { AppError } from "../errors/app-error.ts";
import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface NewTurn extends Pick<TurnRecord, "id" | "participantIdentity" | "parentMessageId" | "messageId"> {
  readonly sessionId: string;
  readonly input: readonly InputText[];
}

/** Two turns that are inserted at once want the same position; one of them asks again. */
const ATTEMPTS = 20;

/**
 * Begins a turn, running, at the session's next position, and returns that. `undefined` when the session has a turn for
 * this `parentMessageId` already: the message is a duplicate. The same turn again (its answer was lost) is not.
 */
export async function insertTurn(sql: Sql, turn: NewTurn): Promise<number | undefined> {
  const { id, sessionId, parentMessageId } = turn;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const inserted = await runQuery(sql<{ position: number }[]>`
      insert into turns (id, session_id, position, participant_identity, parent_message_id, message_id, input)
      select
        ${id}, ${sessionId}, coalesce(max(position), 0) + 1, ${turn.participantIdentity}, ${parentMessageId},
        ${turn.messageId}, ${sql.json(turn.input.map(({ type, text }) => ({ type, text })))}
      from turns where session_id = ${sessionId}
      on conflict do nothing
      returning position
    `);
    if (inserted[0]) return inserted[0].position;
    const existing = await runQuery(sql<{ id: string; position: number }[]>`
      select id, position from turns
      where session_id = ${sessionId} and (id = ${id} or parent_message_id = ${parentMessageId})
    `);
    if (existing.length > 0) return existing.find((row) => row.id === id)?.position;
  }
  throw new AppError("internal", `The turn got no position in ${ATTEMPTS} attempts`);
}
