import { expect, test } from "vitest";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import { finishTurn, insertTurn } from "../../../src/store/turns/write-turns.ts";
import { insertBlocks } from "../../../src/store/turns/write-blocks.ts";
import { loadTurns } from "../../../src/store/turns/load-turns.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { newTurn, storedSession, textBlock, writerOf } from "../store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";

const database = forFile(tempDatabase);

test("the turns in a session are numbered from 1", async () => {
  const session = await storedSession(database.sql);

  expect(await insertTurn(session, newTurn())).toBe(1);
  expect(await insertTurn(session, newTurn())).toBe(2);
  expect(await insertTurn(await storedSession(database.sql), newTurn())).toBe(1);
});

test("turns inserted at the same time get different positions without gaps", async () => {
  const session = await storedSession(database.sql);

  const positions = await Promise.all(Array.from({ length: 6 }, () => insertTurn(session, newTurn())));

  expect(new Set(positions)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
});

test("a second turn for one user message is refused as a duplicate", async () => {
  const session = await storedSession(database.sql);
  await insertTurn(session, newTurn({ parentMessageId: "hello" }));

  expect(await insertTurn(session, newTurn({ parentMessageId: "hello" }))).toBeUndefined();
  const elsewhere = newTurn({ parentMessageId: "hello" });
  expect(await insertTurn(await storedSession(database.sql), elsewhere)).toBe(1);
});

test("a message is answered again by variations, each of which is stored once", async () => {
  const session = await storedSession(database.sql);
  await insertTurn(session, newTurn({ parentMessageId: "hello" }));
  const [once, twice] = [0, 1].map(() => ({ ...newTurn({ parentMessageId: "hello" }), isVariation: true }));
  const store = (turn = newTurn()) => insertTurn(session, turn);

  expect([await store(once), await store(twice), await store(once)]).toEqual([2, 3, 2]);
});

test("turns that no message started are never duplicates", async () => {
  const session = await storedSession(database.sql);

  expect(await insertTurn(session, newTurn({ parentMessageId: null }))).toBe(1);
  expect(await insertTurn(session, newTurn({ parentMessageId: null }))).toBe(2);
});

test("inserting the same turn again after a lost answer gives the same position", async () => {
  const session = await storedSession(database.sql);
  const turn = newTurn();
  await insertTurn(session, turn);

  expect(await insertTurn(session, turn)).toBe(1);
});

test("a turn that replaces others starts with its blocks, and the others leave the conversation, all at once or not at all", async () => {
  const session = await storedSession(database.sql);
  const [first, second] = [newTurn(), newTurn()];
  for (const turn of [first, second]) await insertTurn(session, turn);
  const blocks = [textBlock(0, "Before."), textBlock(1, "After.")];
  const ids = async () => (await loadTurns(database.sql, session.lease)).map(({ id }) => id);

  const bad = newTurn({ replaces: second.id, blocks: [...blocks, textBlock(0, "Its place is taken.")] });
  await expect(insertTurn(session, bad)).rejects.toMatchObject({ code: "internal" });
  expect(await ids()).toEqual([first.id, second.id]);

  const turn = newTurn({ replaces: second.id, blocks });
  expect([await insertTurn(session, turn), await insertTurn(session, turn)]).toEqual([3, 3]);
  expect(await ids()).toEqual([first.id, turn.id]);
  expect((await loadTurns(database.sql, session.lease)).at(-1)?.blocks).toEqual(blocks);
});

test("nobody can write to a missing session", async () => {
  const writer = writerOf(database.sql, "none");

  await expect(insertTurn(writer, newTurn())).rejects.toMatchObject({ code: "lost_lease" });
});

test("the first end of a turn wins", async () => {
  const session = await storedSession(database.sql);
  const turn = newTurn();
  await insertTurn(session, turn);
  const ends = [
    { turnId: turn.id, state: "completed", stopReason: "end_turn", usage: { output_tokens: 3 }, model: "m" },
    { turnId: turn.id, state: "interrupted" },
  ] as const;

  const won = [await finishTurn(session, ends[0]), await finishTurn(session, ends[1])];

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
  const session = await storedSession(database.sql);
  const turn = newTurn();
  await insertTurn(session, turn);

  const won = await Promise.all([
    finishTurn(session, { turnId: turn.id, state: "failed", errorCode: "internal", errorMessage: "broken" }),
    finishTurn(session, { turnId: turn.id, state: "cancelled" }),
  ]);

  expect(won.filter(Boolean)).toHaveLength(1);
});

test("turns load in order with their blocks in order, exactly as stored", async () => {
  const session = await storedSession(database.sql);
  const [first, second] = [newTurn(), newTurn({ parentMessageId: null, input: [] })];
  await insertTurn(session, first);
  await insertTurn(session, second);
  await finishTurn(session, { turnId: first.id, state: "completed" });
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
  await insertBlocks(session, blocks.map((block) => ({ turnId: first.id, block })).toReversed());

  const open = { ...second, position: 2, state: "running", blocks: [] };
  expect(await loadTurns(database.sql, session.lease)).toMatchObject([
    { ...first, position: 1, state: "completed", blocks },
    open,
  ]);
});

test("a stored block is never edited", async () => {
  const session = await storedSession(database.sql);
  const turn = newTurn();
  await insertTurn(session, turn);
  await insertBlocks(session, [{ turnId: turn.id, block: textBlock(0) }]);

  await expect(database.sql`update turn_blocks set text_content = 'other' where turn_id = ${turn.id}`).rejects.toThrow(
    "a stored block is never edited",
  );
});
