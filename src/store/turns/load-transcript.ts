import type { TurnBlock } from "../../conversation/block.ts";
import type { CallState, ExtraAnswer, StateDetail } from "../../conversation/call.ts";
import type { InputPart, TurnState } from "../../conversation/turn-record.ts";
import type { FieldChanges } from "../../conversation/state/state-change.ts";
import type { TurnTimings } from "../../conversation/turn-timings.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

export interface TranscriptCall {
  readonly callId: string;
  readonly state: CallState;
  readonly detail: StateDetail;
  /**
   * The arguments that the call ran with. If `leftOutBytes` is set, `input`, `logs`, `result`, `display` and
   * `stateChange` are `null`.
   */
  readonly input: JsonObject | null;
  /** Whether a participant edited the arguments that the model wrote. */
  readonly isEdited: boolean;
  readonly ranOn: "server" | "client" | null;
  /** The MCP server that provides the tool. */
  readonly mcpServer: string | null;
  /** The participant on whose device the call ran. */
  readonly addressee: string | null;
  readonly logs: readonly string[] | null;
  readonly result: JsonObject | null;
  /** An object that clients may show to people. */
  readonly display: JsonObject | null;
  /**
   * How many bytes of JSON were not loaded, because the turn's calls together were too large; `null` if everything was
   * loaded.
   */
  readonly leftOutBytes: number | null;
  /** How the call changed the session's state; `null` if it did not, or if `leftOutBytes` is set. */
  readonly stateChange: FieldChanges | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Unix ms. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Answers that arrived after the call had ended and changed nothing. */
  readonly extraAnswers: readonly (ExtraAnswer & { readonly at: number })[];
}

/** A block, with what the model wrote if the hook `onAnswer` changed it. */
export type TranscriptBlock = Omit<TurnBlock, "original"> & { readonly original: string | null };

/** A turn with everything that was said and done in it, without thinking. */
export interface TranscriptTurn {
  readonly position: number;
  readonly messageId: string;
  readonly parentMessageId: string | null;
  readonly participantIdentity: string;
  readonly input: readonly InputPart[];
  readonly state: TurnState;
  readonly stopReason: string | null;
  readonly heard: string | null;
  /** Whether a later turn replaced this one (regenerate, edit). */
  readonly isReplaced: boolean;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** `null` while the turn runs. Turns from earlier versions contain only `totalMs` and `firstTextMs`. */
  readonly timings: (Partial<TurnTimings> & Pick<TurnTimings, "totalMs">) | null;
  readonly blocks: readonly TranscriptBlock[];
  /** Keyed by tool use id. */
  readonly calls: Readonly<Record<string, TranscriptCall>>;
}

/** The maximum size of the JSON to load for one turn: inputs, logs, results and displays of all its calls together. */
const CALLS_BYTES = 262_144;

interface PageRequest {
  readonly sessionId: string;
  /** Loads only turns after this position. */
  readonly after: number;
  readonly limit: number;
}

/**
 * Loads the next turns of a session, including replaced ones, in the order in which they began. A turn's calls are
 * loaded in full, smallest first, until `CALLS_BYTES` is reached. This limits the memory needed for a page.
 */
export async function loadTranscriptPage(
  sql: Sql,
  { sessionId, after, limit }: PageRequest,
): Promise<readonly TranscriptTurn[]> {
  return await runQuery(sql<TranscriptTurn[]>`
    select
      position, message_id as "messageId", parent_message_id as "parentMessageId",
      participant_identity as "participantIdentity", input, state, stop_reason as "stopReason", heard,
      superseded_by is not null as "isReplaced", created_at as "createdAt", finished_at as "finishedAt",
      timings, (${blocksOfTurn(sql)}) as blocks, (${callsOfTurn(sql)}) as calls
    from turns
    where session_id = ${sessionId} and position > ${after}
    order by position
    limit ${limit}
  `);
}

/** Returns a subquery for `TranscriptTurn.blocks` of a row of `turns`. */
function blocksOfTurn(sql: Sql) {
  return sql`
    select coalesce(
      json_agg(
        json_build_object(
          'sequence', sequence, 'blockType', block_type, 'textContent', text_content, 'content', content,
          'original', original
        ) order by sequence
      ),
      '[]'
    )
    from turn_blocks
    where turn_id = turns.id and block_type not in ('thinking', 'redacted_thinking') and not (
      -- The call has it.
      block_type = 'tool_result' and exists (
        select from tool_calls where turn_id = turns.id and tool_use_id = content ->> 'tool_use_id'
      )
    )
  `;
}

/** Returns a subquery for `TranscriptTurn.calls` of a row of `turns`. */
function callsOfTurn(sql: Sql) {
  return sql`
    select coalesce(
      json_object_agg(
        tool_use_id,
        json_build_object(
          'callId', id, 'state', call.state, 'detail', detail,
          'input', case when fits then ran_with end, 'isEdited', edited_input is not null,
          'ranOn', execution_resolved, 'mcpServer', mcp_server, 'addressee', call.participant_identity,
          'logs', case when fits then logs end,
          'result', case when fits then result end, 'display', case when fits then display end,
          'stateChange', case when fits then state_change end,
          'leftOutBytes', case when not fits then bytes end,
          'errorCode', call.error_code, 'errorMessage', call.error_message, 'extraAnswers', extra_answers,
          'startedAt', floor(extract(epoch from call.started_at) * 1000),
          'finishedAt', floor(extract(epoch from call.finished_at) * 1000)
        )
      ),
      '{}'
    )
    from (
      select *, sum(bytes) over (order by bytes, id) <= ${CALLS_BYTES} as fits
      from tool_calls,
        lateral (
          select (select edited_input from permissions where call_id = tool_calls.id and not while_running)
        ) as edit,
        lateral (select coalesce(edited_input, tool_calls.input) as ran_with) as run,
        lateral (
          select (select fields from state_changes where call_id = tool_calls.id) as state_change
        ) as changed,
        lateral (select octet_length(concat(ran_with, logs, result, display, state_change)) as bytes) as size
      where turn_id = turns.id
    ) as call
  `;
}
