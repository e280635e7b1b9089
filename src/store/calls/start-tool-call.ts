import { writeHeld, type SessionWriter } from "../sessions/session-writer.ts";

export interface ToolCallStart {
  readonly callId: string;
  readonly executionResolved: "server" | "client";
  /** The participant that must answer; absent for a call that runs on the server. */
  readonly addressee?: string | undefined;
  /** Milliseconds since the epoch; absent while its clock stands still. */
  readonly deadlineAt: number | undefined;
  /** @defaultValue now, or when it was started before */
  readonly startedAt?: number | undefined;
  /** @defaultValue one more than what is stored */
  readonly revision?: number | undefined;
  /** Its turn does not wait for it any more; never taken back. */
  readonly isBackground?: boolean;
}

/**
 * Puts on record who runs the call and until when. A running call may be started again, elsewhere: the server takes
 * over. `false`: the call has ended, and nothing has changed.
 */
export async function startToolCall(writer: SessionWriter, start: ToolCallStart): Promise<boolean> {
  const { sql } = writer;
  const statement = sql`
    update tool_calls
    set state = 'running',
      execution_resolved = ${start.executionResolved},
      participant_identity = ${start.addressee ?? null},
      deadline_at = ${start.deadlineAt === undefined ? null : sql.types.timestamp(start.deadlineAt)},
      started_at = coalesce(started_at, ${start.startedAt === undefined ? null : sql.types.timestamp(start.startedAt)}, now()),
      is_background = is_background or ${start.isBackground ?? false},
      revision = coalesce(${start.revision ?? null}, revision + 1)
    from held
    where id = ${start.callId} and state in ('pending', 'running')
    returning id
  `;
  const changed = await writeHeld(writer, statement);
  return changed.length > 0;
}
