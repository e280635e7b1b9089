import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface CallProgress {
  readonly callId: string;
  readonly revision: number;
  /** All that the call has logged. */
  readonly logs: readonly string[];
  readonly progress: number | undefined;
}

/** Keeps what an open call has said of itself. Storing it again changes nothing. */
export async function saveCallProgress(sql: Sql, call: CallProgress): Promise<void> {
  await runQuery(sql`
    update tool_calls
    set logs = ${sql.json(call.logs)}, progress = ${call.progress ?? null}, revision = ${call.revision}
    where id = ${call.callId} and state in ('pending', 'running') and revision < ${call.revision}
  `);
}
