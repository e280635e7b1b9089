import { afterAll, beforeAll, expect, test } from "vitest";
import { type TurnBlock } from "../../src/conversation/block.ts";
import { finishTurn } from "../../src/store/finish-turn.ts";
import { insertBlocks } from "../../src/store/insert-blocks.ts";
import { insertTurn } from "../../src/store/insert-turn.ts";
import { loadTurns } from "../../src/store/load-turns.ts";
import { tempDatabase, type TempDatabase } from "../support/temp-database.ts";
import { newTurn, storedSession, textBlock } from "./store-fixtures.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await tempDatabase();
});
afterAll(() => database.drop());

test("turns of a session are counted from 1", async () => {
  const sessionId = await storedSession(database.sql);

  expect(await insertTurn(database.sql, newTurn(sessionId))).toBe(1);
  expect(await insertTurn(database.sql, newTurn(sessionId))).toBe(2);
  expect(await insertTurn(database.sql, newTurn(await storedSession(database.sql)))).toBe(1);
});

test("turns that are inserted at once get different positions without a hole", async () => {
  const sessionId = await storedSession(database.sql);

  const positions = await Promise.all(Array.from({ length: 6 }, () => insertTurn(database.sql, newTurn(sessionId))));

  expect(new Set(positions)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
});

test("a second turn for one user message is refused as a duplicate", async () => {
  const sessionId = await storedSession(database.sql);
  await insertTurn(database.sql, newTurn(sessionId, { parentMessageId: "hello" }));

  expect(await insertTurn(database.sql, newTurn(sessionId, { parentMessageId: "hello" }))).toBeUndefined();
  const elsewhere = newTurn(await storedSession(database.sql), { parentMessageId: "hello" });
  expect(await insertTurn(database.sql, elsewhere)).toBe(1);
});

test("turns that no message began are never duplicates", async () => {
  const sessionId = await storedSession(database.sql);

  expect(await insertTurn(database.sql, newTurn(sessionId, { parentMessageId: null }))).toBe(1);
  expect(await insertTurn(database.sql, newTurn(sessionId, { parentMessageId: null }))).toBe(2);
});

test("inserting the same turn again, its answer lost, gives the same position", async () => {
  const turn = newTurn(await storedSession(database.sql));
  await insertTurn(database.sql, turn);

  expect(await insertTurn(database.sql, turn)).toBe(1);
});

test("a turn that takes the place of others begins with its blocks, and they leave the talk, all at once or not at all", async () => {
  const sessionId = await storedSession(database.sql);
  const [first, second] = [newTurn(sessionId), newTurn(sessionId)];
  for (const turn of [first, second]) await insertTurn(database.sql, turn);
  const blocks = [textBlock(0, "Before."), textBlock(1, "After.")];
  const ids = async () => (await loadTurns(database.sql, { sessionId })).map(({ id }) => id);

  const bad = newTurn(sessionId, { replaces: second.id, blocks: [...blocks, textBlock(0, "Its place is taken.")] });
  await expect(insertTurn(database.sql, bad)).rejects.toMatchObject({ code: "internal" });
  expect(await ids()).toEqual([first.id, second.id]);

  const turn = newTurn(sessionId, { replaces: second.id, blocks });
  expect([await insertTurn(database.sql, turn), await insertTurn(database.sql, turn)]).toEqual([3, 3]);
  expect(await ids()).toEqual([first.id, turn.id]);
  expect((await loadTurns(database.sql, { sessionId })).at(-1)?.blocks).toEqual(blocks);
});

test("a turn of no session is refused", async () => {
  await expect(insertTurn(database.sql, newTurn("none"))).rejects.toMatchObject({
    code: "internal",
    message: "The database refused a statement (23503)",
  });
});

test("the first end of a turn wins", async () => {
  const turn = newTurn(await storedSession(database.sql));
  await insertTurn(database.sql, turn);
  const ends = [
    { turnId: turn.id, state: "completed", stopReason: "end_turn", usage: { output_tokens: 3 }, model: "m" },
    { turnId: turn.id, state: "interrupted" },
  ] as const;

  const won = [await finishTurn(database.sql, ends[0]), await finishTurn(database.sql, ends[1])];

  expect(won).toEqual([true, false]);
  const rows = await database.sql`select state, usage, timings, finished_at from turns where id = ${turn.id}`;
  expect(rows[0]).toEqual({
    state: "completed",
    usage: { output_tokens: 3 },
    timings: null,
    finished_at: expect.any(Number),
  });
});

test("of two ends at once, one wins", async () => {
  const turn = newTurn(await storedSession(database.sql));
  await insertTurn(database.sql, turn);

  const won = await Promise.all([
    finishTurn(database.sql, { turnId: turn.id, state: "failed", errorCode: "internal", errorMessage: "broken" }),
    finishTurn(database.sql, { turnId: turn.id, state: "cancelled" }),
  ]);

  expect(won.filter(Boolean)).toHaveLength(1);
});

test("turns load in order with their blocks in order, exactly as stored", async () => {
  const sessionId = await storedSession(database.sql);
  const [first, second] = [newTurn(sessionId), newTurn(sessionId, { parentMessageId: null, input: [] })];
  await insertTurn(database.sql, first);
  await insertTurn(database.sql, second);
  await finishTurn(database.sql, { turnId: first.id, state: "completed" });
  const blocks: TurnBlock[] = [
    { sequence: 0, blockType: "thinking", textContent: "Hm, \"'\n\u2028😀", content: { signature: "4k_a" } },
    {
      sequence: 1,
      blockType: "tool_use",
      textContent: null,
      content: { tool_use_id: "t1", input: { a: [1.5, null] } },
    },
    { sequence: 2, blockType: "hologram", textContent: null, content: { type: "hologram", depth: { x: {} } } },
    { sequence: 3, blockType: "text", textContent: "", content: null },
  ];
  await insertBlocks(database.sql, blocks.map((block) => ({ turnId: first.id, block })).toReversed());

  const { sessionId: _, ...turn } = first;
  const { sessionId: __, ...openTurn } = second;
  const open = { ...openTurn, position: 2, state: "running", blocks: [] };
  expect(await loadTurns(database.sql, { sessionId })).toMatchObject([
    { ...turn, position: 1, state: "completed", blocks },
    open,
  ]);
});

test("a stored block is never edited", async () => {
  const turn = newTurn(await storedSession(database.sql));
  await insertTurn(database.sql, turn);
  await insertBlocks(database.sql, [{ turnId: turn.id, block: textBlock(0) }]);

  await expect(database.sql`update turn_blocks set text_content = 'other' where turn_id = ${turn.id}`).rejects.toThrow(
    "a stored block is never edited",
  );
});
