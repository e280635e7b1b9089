import { type ExtraAnswer } from "../../conversation/call.ts";
import { writeHeld, type SessionWriter } from "../sessions/session-writer.ts";

const KEPT = 20;

/** Keeps an answer that changed nothing. Only the first 20 of a call: a client that floods cannot grow its row. */
export async function recordExtraAnswer(
  writer: SessionWriter,
  { callId, answer }: { readonly callId: string; readonly answer: ExtraAnswer },
): Promise<void> {
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
    where id = ${callId} and jsonb_array_length(extra_answers) < ${KEPT}
    returning id
  `;
  await writeHeld(writer, statement);
}
