import type { TurnBlock } from "../../conversation/block.ts";
import { AppError } from "../../errors/app-error.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { errorCode, errorKind, toStoreError } from "../database/store-error.ts";
import { type SessionWriter, fencingRow, lostLease } from "../sessions/session-writer.ts";

/** A block with its turn's id: one row of `turn_blocks`. */
export interface TurnBlockRow {
  readonly turnId: string;
  readonly block: TurnBlock;
  /** Why the model stopped after this block. Absent if the model continued, or if the reason is unknown. */
  readonly stopReason?: string | undefined;
}

/**
 * Stores blocks in one statement, all or none, and returns how many were new. A stored block is never changed, so a
 * batch can be sent again if the database's reply was lost. Rejects with the driver's own error.
 *
 * @throws {AppError} `lost_lease`
 */
export async function insertBlocks(writer: SessionWriter, rows: readonly TurnBlockRow[]): Promise<number> {
  const { sql } = writer;
  const result = await sql<{ count: number }[]>`
    with fence as materialized (${fencingRow(writer)}), ${storedBlocks(sql, rows)}
    select (select count(*)::int from stored) as count from fence
  `;
  if (!result[0]) throw lostLease();
  return result[0].count;
}

/** Returns the part `stored` of a statement with `fence`. It stores blocks and selects one row for each new block. */
export function storedBlocks(sql: Sql, rows: readonly TurnBlockRow[]) {
  return sql`stored as (
    insert into turn_blocks (turn_id, sequence, block_type, text_content, content, stop_reason, original)
    select turn_id, sequence, block_type, text_content, content, stop_reason, original from ${recordset(sql, rows)}, fence
    on conflict (turn_id, sequence) do nothing
    returning 1
  )`;
}

/**
 * Returns the indexes of the rows for which `turn_blocks` does not contain the same block. Rejects with the driver's
 * own error.
 */
async function findDifferentBlocks(sql: Sql, rows: readonly TurnBlockRow[]): Promise<number[]> {
  const different = await sql<{ index: number }[]>`
    select block.index from ${recordset(sql, rows)}
    left join turn_blocks as stored using (turn_id, sequence)
    where (stored.block_type, stored.text_content, stored.content)
      is distinct from (block.block_type, block.text_content, block.content)
  `;
  return different.map((row) => row.index);
}

/** Returns the rows as a table `block`, for a `from` clause. */
export function recordset(sql: Sql, rows: readonly TurnBlockRow[]) {
  const records = rows.map(({ turnId, block, stopReason }, index) => ({
    index,
    turn_id: turnId,
    sequence: block.sequence,
    block_type: block.blockType,
    text_content: block.textContent,
    content: block.content,
    stop_reason: stopReason,
    original: block.original,
  }));
  // Sent as text, because the driver would encode a json parameter a second time.
  return sql`json_to_recordset(${JSON.stringify(records)}::text::json) as block (
    index int, turn_id text, sequence int, block_type text, text_content text, content jsonb, stop_reason text,
    original text
  )`;
}

/** A block that was lost or replaced. */
export interface BlockProblem {
  readonly row: TurnBlockRow;
  /**
   * `replaced`: the database cannot store the block's content, so a placeholder was stored instead. `lost`: nothing was
   * stored.
   */
  readonly outcome: "replaced" | "lost";
  readonly error: AppError;
}

/**
 * Stores a batch; one bad row does not affect the others. Resolves with the blocks that were lost or replaced. All
 * other rows are durable.
 *
 * @throws {AppError} if the database cannot accept any block at the moment. Unless the code is `lost_lease`, the whole
 *   batch may be sent again
 */
export async function writeBlocks(writer: SessionWriter, rows: readonly TurnBlockRow[]): Promise<BlockProblem[]> {
  try {
    return await insertAndCheck(writer, rows);
  } catch (error) {
    if (errorKind(error) !== "refused") throw toStoreError(error);
    if (rows[0] && rows.length === 1) return [await replace(writer, rows[0], toStoreError(error))];
  }
  const problems: BlockProblem[] = [];
  for (const row of rows) problems.push(...(await writeBlocks(writer, [row])));
  return problems;
}

/**
 * Stores rows and returns those that are lost. A row that is already stored was either sent twice by this writer or
 * stored by another writer. In the second case, this writer's block is lost.
 */
async function insertAndCheck(writer: SessionWriter, rows: readonly TurnBlockRow[]): Promise<BlockProblem[]> {
  if ((await insertBlocks(writer, rows)) === rows.length) return [];
  const indexes = await findDifferentBlocks(writer.sql, rows);
  return rows
    .filter((_, index) => indexes.includes(index))
    .map((row) => ({
      row,
      outcome: "lost",
      error: new AppError("invalid_state", `${placeOf(row)} is already stored with different content`),
    }));
}

async function replace(writer: SessionWriter, row: TurnBlockRow, cause: AppError): Promise<BlockProblem> {
  const reason = `${placeOf(row)} cannot be stored (${errorCode(cause.cause) ?? "not JSON"})`;
  const problem = { row, error: new AppError("internal", reason, { cause }) };
  try {
    const [taken] = await insertAndCheck(writer, [{ ...row, block: placeholder(row.block) }]);
    return taken ? { row, outcome: "lost", error: taken.error } : { ...problem, outcome: "replaced" };
  } catch (error) {
    if (errorKind(error) !== "refused") throw toStoreError(error);
    return { ...problem, outcome: "lost" };
  }
}

const NOTE = "[This block's content could not be stored.]";

/** Returns a block without content. Keeps the ids and names, because the history needs a result for each tool use. */
function placeholder({ sequence, blockType, textContent, content }: TurnBlock): TurnBlock {
  const kept: JsonObject = Object.fromEntries(
    ["tool_use_id", "tool_name", "id"].flatMap((key) => {
      const value = content?.[key];
      return typeof value === "string" && /^[\w.:-]{1,200}$/.test(value) ? [[key, value]] : [];
    }),
  );
  const byType: Record<string, JsonObject> = {
    tool_use: { input: {} },
    server_tool_use: { input: {} },
    tool_result: { content: NOTE, is_error: true },
  };
  return {
    sequence,
    blockType,
    textContent: textContent === null ? null : NOTE,
    content: { ...kept, ...byType[blockType], unstorable: true },
  };
}

function placeOf({ turnId, block }: TurnBlockRow): string {
  return `Block ${block.sequence} of turn "${turnId}"`;
}
