import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/** What a person has allowed for good: this tool, for what matches the pattern. */
export interface GrantRecord {
  readonly id: string;
  readonly toolName: string;
  readonly pattern: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The grants of one identity, in every session, the oldest first. */
export async function listGrants(sql: Sql, { identity }: { readonly identity: string }): Promise<GrantRecord[]> {
  return await runQuery(sql<GrantRecord[]>`
    select id, tool_name as "toolName", pattern, created_at as "createdAt" from permission_grants
    where participant_identity = ${identity}
    order by created_at, id
  `);
}
