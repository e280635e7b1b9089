import type { Media } from "../conversation/content.ts";
import { runQuery } from "./database/store-error.ts";
import { type SessionWriter, writeFenced } from "./sessions/session-writer.ts";

/** Media for the model, and where they came from. */
export interface MediaWithSource {
  /** The call whose outcome contains them; `null` if they arrived with a message. */
  readonly callId: string | null;
  /** The participant who sent them; `null` if the worker's own tools produced them. */
  readonly from: string | null;
  readonly media: readonly Media[];
}

/** Stores media. Call this before storing blocks that refer to them. Media that are already stored are not changed. */
export async function insertMedia(writer: SessionWriter, { callId, from, media }: MediaWithSource): Promise<void> {
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

/** Loads media by id, omitting those that are no longer stored for the session. */
export async function loadMedia(
  { sql, lease }: SessionWriter,
  { ids }: { readonly ids: readonly string[] },
): Promise<readonly Media[]> {
  return await runQuery(sql<Media[]>`
    select id, media_type as "mediaType", bytes from media
    where session_id = ${lease.sessionId} and id in ${sql(ids)}
  `);
}
