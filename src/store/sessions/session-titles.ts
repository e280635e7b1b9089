import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

interface SessionTitle {
  readonly sessionId: string;
  readonly identity: string;
  /** Empty: the session no longer has a title. */
  readonly title: string;
}

/**
 * Stores what a participant calls a session. Returns `false` if the participant has had no turn in such a session.
 */
export async function setTitle(sql: Sql, { sessionId, identity, title }: SessionTitle): Promise<boolean> {
  const hasSpoken = sql`
    exists (
      select from turns
      where session_id = ${sessionId} and participant_identity = ${identity} and parent_message_id is not null
    )
  `;
  const [row] = await runQuery(sql<{ found: boolean }[]>`
    with changed as (
      insert into session_titles (session_id, participant_identity, title)
      select ${sessionId}, ${identity}, ${title} where ${title} <> '' and ${hasSpoken}
      on conflict (session_id, participant_identity) do update set title = excluded.title
    ), removed as (
      delete from session_titles
      where session_id = ${sessionId} and participant_identity = ${identity} and ${title} = ''
    )
    select ${hasSpoken} as found
  `);
  return row?.found === true;
}

/** Deletes titles of sessions from which all turns of their participants have been deleted. */
export async function deleteUnusedTitles(sql: Sql): Promise<void> {
  await runQuery(sql`
    delete from session_titles as titles where not exists (
      select from turns
      where turns.session_id = titles.session_id and turns.participant_identity = titles.participant_identity
    )
  `);
}
