import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface ClientStanzas {
  readonly sessionId: string;
  /** Last stanza number seen of each participant, by identity. */
  readonly stanzas: Readonly<Record<string, number>>;
}

/** Merges into what is stored; a number never goes back, whatever order the writes arrive in. */
export async function saveClientStanzas(sql: Sql, { sessionId, stanzas }: ClientStanzas): Promise<void> {
  await runQuery(sql`
    update sessions
    set updated_at = now(), client_stanzas = client_stanzas || (
      select coalesce(jsonb_object_agg(key, greatest(value::numeric, (client_stanzas ->> key)::numeric)), '{}')
      from jsonb_each_text(${sql.json(stanzas)})
    )
    where id = ${sessionId}
  `);
}
