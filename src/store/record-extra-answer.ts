import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";
import { type ExtraAnswerRecord } from "./tool-call-record.ts";

export interface ExtraAnswer extends Pick<ExtraAnswerRecord, "kind" | "from" | "success"> {
  readonly callId: string;
  readonly errorCode?: string | undefined;
}

const KEPT = 20;

/** Keeps an answer that changed nothing. Only the first 20 of a call: a client that floods cannot grow its row. */
export async function recordExtraAnswer(sql: Sql, answer: ExtraAnswer): Promise<void> {
  await runQuery(sql`
    update tool_calls
    set extra_answers = extra_answers || jsonb_build_object(
      'kind', ${answer.kind}::text,
      'from', ${answer.from}::text,
      'at', floor(extract(epoch from now()) * 1000),
      'success', ${answer.success}::boolean,
      'errorCode', ${answer.errorCode ?? null}::text
    )
    where id = ${answer.callId} and jsonb_array_length(extra_answers) < ${KEPT}
  `);
}
