import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** Takes back one of an identity's own grants. `false`: it has none with this id. */
export async function deleteGrant(
  sql: Sql,
  { identity, grantId }: { readonly identity: string; readonly grantId: string },
): Promise<boolean> {
  const deleted = await runQuery(sql`
    delete from permission_grants where id = ${grantId} and participant_identity = ${identity}
  `);
  return deleted.count > 0;
}
