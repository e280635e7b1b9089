import { writeHeld, type SessionWriter } from "../sessions/session-writer.ts";
import { type ExtraAnswerRecord } from "./tool-call-record.ts";

export interface ExtraAnswer extends Pick<ExtraAnswerRecord, "kind" | "from" | "success"> {
  readonly callId: string;
  readonly errorCode?: string | undefined;
}

const KEPT = 20;

/** Keeps an answer that changed nothing. Only the first 20 of a call: a client that floods cannot grow its row. */
export async function recordExtraAnswer(writer: SessionWriter, answer: ExtraAnswer): Promise<void> {
  const statement = writer.sql`
    update tool_calls
    set extra_answers = extra_answers || jsonb_build_object(
      'kind', ${answer.kind}::text,
      'from', ${answer.from}::text,
      'at', floor(extract(epoch from now()) * 1000),
      'success', ${answer.success}::boolean,
      'errorCode', ${answer.errorCode ?? null}::text
    )
    from held
    where id = ${answer.callId} and jsonb_array_length(extra_answers) < ${KEPT}
    returning id
  `;
  await writeHeld(writer, statement);
}
