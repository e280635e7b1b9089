import { createId } from "../../lib/id.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** Something that a person asked the agent to remember. */
export interface Memory {
  readonly id: string;
  readonly text: string;
  /** Unix ms. */
  readonly createdAt: number;
}

interface Identity {
  readonly identity: string;
}

/** The maximum number of memories per identity. */
export const MAX_MEMORIES = 100;

/** Returns an identity's memories, oldest first. */
export async function listMemories(sql: Sql, { identity }: Identity): Promise<readonly Memory[]> {
  return await runQuery(sql<Memory[]>`
    select id, content as text, created_at as "createdAt" from memories
    where participant_identity = ${identity}
    order by created_at, id
  `);
}

/**
 * Stores a memory.
 *
 * @returns the id of the memory, or of an existing one with the same text; `undefined` if the identity already has
 *   `MAX_MEMORIES`
 */
export async function addMemory(
  sql: Sql,
  { identity, text }: Identity & Pick<Memory, "text">,
): Promise<string | undefined> {
  const [added] = await runQuery(sql<{ id: string }[]>`
    insert into memories (id, participant_identity, content)
    select ${createId()}, ${identity}, ${text}
    where (select count(*) from memories where participant_identity = ${identity}) < ${MAX_MEMORIES}
    on conflict do nothing
    returning id
  `);
  if (added) return added.id;
  const [same] = await runQuery(sql<{ id: string }[]>`
    select id from memories where participant_identity = ${identity} and content = ${text}
  `);
  return same?.id;
}

/** Deletes one of an identity's memories, or all of them. @returns how many were deleted */
export async function deleteMemories(
  sql: Sql,
  { identity, memoryId }: Identity & { readonly memoryId?: string | undefined },
): Promise<number> {
  const { count } = await runQuery(sql`
    delete from memories
    where participant_identity = ${identity} ${memoryId === undefined ? sql`` : sql`and id = ${memoryId}`}
  `);
  return count;
}
