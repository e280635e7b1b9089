import type { Summary } from "../../conversation/summary.ts";
import { jsonParameter, type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, writeFenced } from "../sessions/session-writer.ts";

/** Stores a summary. Does nothing if it is already stored. */
export async function insertSummary(writer: SessionWriter, summary: Summary): Promise<void> {
  const { sql, lease } = writer;
  const { id, from, to, toTurn, text, textFrom, textTo, model, usage, promises, people } = summary;
  const statement = sql`
    insert into summaries (
      id, session_id, from_position, to_position, to_turn, text, text_from, text_to, model, usage, promises, people
    )
    select
      ${id}, ${lease.sessionId}, ${from}, ${to}, ${toTurn}, ${text}, ${textFrom}, ${textTo}, ${model},
      ${jsonParameter(sql, usage ?? undefined)}::jsonb, ${sql.json(promises)}, ${sql.json(people)}
    from fence
    where exists (select from turns where id = ${toTurn})
    on conflict do nothing
    returning id
  `;
  await writeFenced(writer, statement);
}

/**
 * Returns the assignments for an `update` of summaries whose model-written text covers removed content. They clear that
 * text and keep the facts from the record.
 */
export function withoutSummaryText(sql: Sql) {
  return sql`text = null, text_to = 0, model = null, usage = null`;
}

export async function loadSummary(sql: Sql, { id }: { readonly id: string }): Promise<Summary | undefined> {
  const [summary] = await runQuery(sql<Summary[]>`
    select
      id, from_position as "from", to_position as "to", to_turn as "toTurn", text, text_from as "textFrom",
      text_to as "textTo", model, usage, promises, people
    from summaries where id = ${id}
  `);
  return summary;
}
