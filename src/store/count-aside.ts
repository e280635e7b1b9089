import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/** One more sentence of the turn's answer that is in none of its blocks. */
export async function countAside(sql: Sql, { turnId }: { turnId: string }): Promise<void> {
  await runQuery(sql`update turns set asides = asides + 1 where id = ${turnId}`);
}
