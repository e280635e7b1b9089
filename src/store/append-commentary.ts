import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface Commentary {
  readonly sessionId: string;
  /** The user's or the assistant's message. */
  readonly messageId: string;
  readonly content: string;
  readonly commentaryType?: string | undefined;
}

const KEPT = 100;

/** Keeps a note with the turn that its message belongs to. `false`: the session has no such message, or enough notes. */
export async function appendCommentary(sql: Sql, commentary: Commentary): Promise<boolean> {
  const { sessionId, messageId, content, commentaryType = null } = commentary;
  const result = await runQuery(sql`
    update turns set commentary = commentary || ${sql.json([{ messageId, content, commentaryType }])}
    where session_id = ${sessionId} and (message_id = ${messageId} or parent_message_id = ${messageId})
      and jsonb_array_length(commentary) < ${KEPT}
  `);
  return result.count > 0;
}
