import { type TurnState } from "../conversation/turn-record.ts";
import { type JsonObject } from "../lib/json.ts";
import { jsonParameter } from "./json-parameter.ts";
import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

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
export async function finishTurn(sql: Sql, end: TurnEnd): Promise<boolean> {
  const result = await runQuery(sql`
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
    where id = ${end.turnId} and state = 'running'
  `);
  return result.count > 0;
}
