import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

interface DeletionRequest {
  readonly sessionId: string;
  readonly identity: string;
}

/**
 * Why a session was not deleted. `missing`: the participant has had no turn in it. `served`: its worker has it in
 * memory, and may store it again. `shared`: others have said something in it, or their devices have run a tool.
 */
export type NotDeleted = "missing" | "served" | "shared";

/**
 * Deletes a session's content if nobody but this participant has taken part in it: all turns with their calls,
 * permissions and media, waiting messages, summaries, state, titles and webhooks. The session's row stays, because
 * stanza numbers continue if the room is joined again. Returns `undefined` if the content was deleted.
 */
export async function deleteSession(
  sql: Sql,
  { sessionId, identity }: DeletionRequest,
): Promise<NotDeleted | undefined> {
  const [row] = await runQuery(sql<{ is_served: boolean; is_shared: boolean }[]>`
    with asked as (
      select id, (lease_owner is not null and lease_expires_at > now()) as is_served, (
        exists (
          select from turns
          where session_id = sessions.id and parent_message_id is not null
            and turns.participant_identity <> ${identity}
        )
        or exists (
          select from waiting_messages
          where session_id = sessions.id and waiting_messages.participant_identity <> ${identity}
        )
        or exists (
          select from tool_calls where in_session = sessions.id and tool_calls.participant_identity <> ${identity}
        )
      ) as is_shared
      from sessions
      where id = ${sessionId} and exists (
        select from turns
        where session_id = sessions.id and parent_message_id is not null and turns.participant_identity = ${identity}
      )
      for update of sessions
    ),
    gone as (select id from asked where not is_served and not is_shared),
    gone_turns as (delete from turns using gone where session_id = gone.id),
    gone_media as (delete from media using gone where session_id = gone.id),
    gone_messages as (delete from waiting_messages using gone where session_id = gone.id),
    gone_summaries as (delete from summaries using gone where session_id = gone.id),
    gone_states as (delete from session_states using gone where session_id = gone.id),
    gone_changes as (delete from state_changes using gone where session_id = gone.id),
    gone_titles as (delete from session_titles using gone where session_id = gone.id),
    gone_rooms as (delete from session_rooms using gone where session_id = gone.id),
    emptied as (
      update sessions set participant_identity = null, languages = '{}', updated_at = now()
      from gone where sessions.id = gone.id
    )
    select is_served, is_shared from asked
  `);
  if (!row) return "missing";
  if (row.is_served) return "served";
  return row.is_shared ? "shared" : undefined;
}
