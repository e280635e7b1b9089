import { writeHeld, type SessionWriter } from "../sessions/session-writer.ts";

export interface CallProgress {
  readonly callId: string;
  readonly revision: number;
  /** All that the call has logged. */
  readonly logs: readonly string[];
  readonly progress: number | undefined;
}

/** Keeps what an open call has said of itself. Storing it again changes nothing. */
export async function saveCallProgress(writer: SessionWriter, call: CallProgress): Promise<void> {
  const { sql } = writer;
  const statement = sql`
    update tool_calls
    set logs = ${sql.json(call.logs)}, progress = ${call.progress ?? null}, revision = ${call.revision}
    from held
    where id = ${call.callId} and state in ('pending', 'running') and revision < ${call.revision}
    returning id
  `;
  await writeHeld(writer, statement);
}
