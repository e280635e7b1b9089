import type { Media } from "../conversation/content.ts";
import { runQuery } from "./database/store-error.ts";
import { type SessionWriter, writeFenced } from "./sessions/session-writer.ts";

/** Media for the model, and where they came from. */
export interface GivenMedia {
  /** The call whose outcome names them; `null` if they came with a message. */
  readonly callId: string | null;
  /** The participant who sent them; `null` if the worker's own tools made them. */
  readonly from: string | null;
  readonly media: readonly Media[];
}

/** Stores media before blocks refer to them. Does not change media that are already stored. */
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

/** Loads media by id, omitting those that the session no longer has. */
export async function loadMedia(
  { sql, lease }: SessionWriter,
  { ids }: { readonly ids: readonly string[] },
): Promise<readonly Media[]> {
  return await runQuery(sql<Media[]>`
    select id, media_type as "mediaType", bytes from media
    where session_id = ${lease.sessionId} and id in ${sql(ids)}
  `);
}
