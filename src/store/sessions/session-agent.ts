import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, writeFenced } from "./session-writer.ts";

/** The agent that the session was handed to in this room; `undefined` when it was not handed over there. */
export async function loadSessionAgent(
  sql: Sql,
  { sessionId, roomSid }: { readonly sessionId: string; readonly roomSid: string },
): Promise<string | undefined> {
  const [row] = await runQuery(sql<{ agent: string | null }[]>`
    select agent from sessions where id = ${sessionId} and agent_room = ${roomSid}
  `);
  return row?.agent ?? undefined;
}

/** @throws {AppError} `lost_lease`, `unavailable` */
export async function keepSessionAgent(
  writer: SessionWriter,
  { agent, roomSid }: { readonly agent: string; readonly roomSid: string },
): Promise<void> {
  const { sql, lease } = writer;
  await writeFenced(
    writer,
    sql`
      update sessions set agent = ${agent}, agent_room = ${roomSid}, updated_at = now()
      from fence where sessions.id = ${lease.sessionId} returning sessions.id
    `,
  );
}
