import { type TurnBlock } from "../../conversation/block.ts";
import { type Sql } from "../database/pool.ts";
import { heldRow, lostLease, type SessionWriter } from "../sessions/session-writer.ts";

/** A block with its turn: one row of `turn_blocks`. */
export interface TurnBlockRow {
  readonly turnId: string;
  readonly block: TurnBlock;
}

/**
 * Stores blocks in one statement, all or none, and returns how many were new: a block that is stored already is left
 * as it is, so a batch whose answer was lost can be sent again. Rejects with the driver's own error.
 *
 * @throws {AppError} `lost_lease`
 */
export async function insertBlocks(writer: SessionWriter, rows: readonly TurnBlockRow[]): Promise<number> {
  const { sql } = writer;
  const result = await sql<{ count: number }[]>`
    with held as materialized (${heldRow(writer)}), stored as (
      insert into turn_blocks (turn_id, sequence, block_type, text_content, content)
      select turn_id, sequence, block_type, text_content, content from ${recordset(sql, rows)}, held
      on conflict (turn_id, sequence) do nothing
      returning 1
    )
    select (select count(*)::int from stored) as count from held
  `;
  if (!result[0]) throw lostLease();
  return result[0].count;
}

/** Indexes of the rows whose place in `turn_blocks` holds something else. Rejects with the driver's own error. */
export async function findDifferentBlocks(sql: Sql, rows: readonly TurnBlockRow[]): Promise<number[]> {
  const different = await sql<{ index: number }[]>`
    select block.index from ${recordset(sql, rows)}
    left join turn_blocks as stored using (turn_id, sequence)
    where (stored.block_type, stored.text_content, stored.content)
      is distinct from (block.block_type, block.text_content, block.content)
  `;
  return different.map((row) => row.index);
}

/** Rows as a table of their own, `block`, for a `from`. */
export function recordset(sql: Sql, rows: readonly TurnBlockRow[]) {
  const records = rows.map(({ turnId, block }, index) => ({
    index,
    turn_id: turnId,
    sequence: block.sequence,
    block_type: block.blockType,
    text_content: block.textContent,
    content: block.content,
  }));
  // As text: a json parameter would be turned into JSON a second time.
  return sql`json_to_recordset(${JSON.stringify(records)}::text::json) as block (
    index int, turn_id text, sequence int, block_type text, text_content text, content jsonb
  )`;
}
