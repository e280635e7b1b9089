import type { Sql } from "../../../src/store/database/pool.ts";

interface Talk {
  readonly sessionId: string;
  /** The number of turns. */
  readonly length: number;
  /** Whether to store the turns as an older version did: without what the model was shown. */
  readonly isOld?: boolean;
}

/** Stores a session with a call in each turn. The model was last shown the 40 newest turns. */
export async function fillTalk(sql: Sql, { sessionId, length, isOld = false }: Talk): Promise<void> {
  await sql`
    insert into turns (id, session_id, position, participant_identity, parent_message_id, message_id, input, state,
      model, last_stanza, context)
    select ${sessionId} || n, ${sessionId}, n, 'ann', 'u' || n, 'a' || n, '[{"type": "text", "text": "And then?"}]',
      'completed', 'm', n * 3, ${
        isOld
          ? null
          : sql`jsonb_build_object('from', greatest(1, n - 40), 'measured', '{"tokens": 900, "bytes": 3000}'::jsonb)`
      }
    from generate_series(1, ${length}) as n`;
  const blocks = [
    ["tool_use", null, sql`jsonb_build_object('tool_use_id', 't' || n, 'tool_name', 'look', 'input', '{}'::jsonb)`],
    [
      "tool_result",
      null,
      sql`jsonb_build_object('tool_use_id', 't' || n, 'content', repeat('x', 200), 'is_error', false)`,
    ],
    ["text", "It went on.", null],
  ] as const;
  for (const [sequence, [type, text, content]] of blocks.entries())
    await sql`
      insert into turn_blocks (turn_id, sequence, block_type, text_content, content)
      select ${sessionId} || n, ${sequence}, ${type}, ${text}, ${content} from generate_series(1, ${length}) as n`;
  await sql`
    insert into tool_calls (id, turn_id, in_session, tool_use_id, name, execution_asked, state, timeout_ms,
      idempotency_key, input, is_background, is_told)
    select ${sessionId} || n, ${sessionId} || n, ${sessionId}, 't' || n, 'look', 'server', 'success', 1, '', '{}', true, true
    from generate_series(1, ${length}) as n`;
  await sql`analyze turns, turn_blocks, tool_calls, waiting_messages`;
}
