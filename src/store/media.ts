import type { Media } from "../conversation/content.ts";
import { runQuery } from "./database/store-error.ts";
import { type SessionWriter, writeFenced } from "./sessions/session-writer.ts";

/** What the model is to be shown, and whose it is. */
export interface GivenMedia {
  /** The call whose outcome names it; null for what came with a message. */
  readonly callId: string | null;
  /** The participant who gave it; null for what the worker's own tools made. */
  readonly from: string | null;
  readonly media: readonly Media[];
}

/** Stores bytes that blocks will name. What is stored already stays as it is. */
export async function insertMedia(writer: SessionWriter, { callId, from, media }: GivenMedia): Promise<void> {
  const { sql, lease } = writer;
  for (const { id, mediaType, bytes } of media) {
    const statement = sql`
      insert into media (id, session_id, call_id, participant_identity, media_type, bytes)
      select ${id}, ${lease.sessionId}, ${callId}::text, ${from}::text, ${mediaType}, ${Buffer.from(bytes)}::bytea
      from fence
      on conflict do nothing
      returning id
    `;
    await writeFenced(writer, statement);
  }
}

/** The bytes of these ids, as far as the session has them still. */
export async function loadMedia(
  { sql, lease }: SessionWriter,
  { ids }: { readonly ids: readonly string[] },
): Promise<readonly Media[]> {
  return await runQuery(sql<Media[]>`
    select id, media_type as "mediaType", bytes from media
    where session_id = ${lease.sessionId} and id in ${sql(ids)}
  `);
}
