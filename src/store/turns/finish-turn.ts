import { type TurnState } from "../../conversation/turn-record.ts";
import { type JsonObject } from "../../lib/json.ts";
import { jsonParameter } from "../database/json-parameter.ts";
import { writeHeld, type SessionWriter } from "../sessions/session-writer.ts";

export interface TurnEnd {
  readonly turnId: string;
  readonly state: Exclude<TurnState, "running">;
  readonly stopReason?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly model?: string | undefined;
  readonly usage?: JsonObject | undefined;
  readonly timings?: JsonObject | undefined;
  readonly lastStanza?: number | undefined;
  readonly heard?: string | undefined;
}

/** Ends a running turn. `false`: it had ended before, and nothing has changed. */
export async function finishTurn(writer: SessionWriter, end: TurnEnd): Promise<boolean> {
  const { sql } = writer;
  const statement = sql`
    update turns
    set state = ${end.state},
      stop_reason = ${end.stopReason ?? null},
      error_code = ${end.errorCode ?? null},
      error_message = ${end.errorMessage ?? null},
      model = ${end.model ?? null},
      usage = ${jsonParameter(sql, end.usage)},
      timings = ${jsonParameter(sql, end.timings)},
      last_stanza = ${end.lastStanza ?? null},
      heard = ${end.heard ?? null},
      finished_at = now()
    from held
    where id = ${end.turnId} and state = 'running'
    returning id
  `;
  const changed = await writeHeld(writer, statement);
  return changed.length > 0;
}
