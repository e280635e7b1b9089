import { expect, onTestFinished, test } from "vitest";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import { AppError } from "../../../src/errors/app-error.ts";
import { BlockWriter, type BlockWriterOptions } from "../../../src/store/turns/block-writer.ts";
import { connect } from "../../../src/store/database/pool.ts";
import { insertBlocks, type BlockProblem, type TurnBlockRow } from "../../../src/store/turns/write-blocks.ts";
import { cpuMs } from "../../support/cpu-ms.ts";
import { TcpProxy } from "../../support/servers/tcp-proxy.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { storedTurn, textBlock } from "../store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";

const database = forFile(tempDatabase);

/** Creates a block writer behind a proxy. Also returns the problems that it reports, and a new turn to write to. */
async function writerBehindProxy(options: BlockWriterOptions = {}) {
  const proxy = await TcpProxy.start(database.url);
  const sql = connect(proxy.url);
  const problems: BlockProblem[] = [];
  const {
    writer: session,
    turn: { id: turnId },
  } = await storedTurn(database.sql);
  const writer = new BlockWriter({ ...session, sql }, { onProblem: (problem) => problems.push(problem), ...options });
  await sql`select 1`;
  onTestFinished(async () => {
    await sql.end({ timeout: 0 });
    await proxy[Symbol.asyncDispose]();
  });
  const { sessionId } = session.lease;
  const claimAnew = () => database.sql`update sessions set epoch = epoch + 1 where id = ${sessionId}`;
  return { proxy, writer, session, problems, turnId, claimAnew };
}

function addTexts(writer: BlockWriter, turnId: string, [from, to]: [number, number]): void {
  for (let sequence = from; sequence < to; sequence++) writer.add({ turnId, block: textBlock(sequence) });
}

async function storedTexts(turnId: string): Promise<string[]> {
  const rows = await database.sql<{ text_content: string }[]>`
    select text_content from turn_blocks where turn_id = ${turnId} order by sequence
  `;
  return rows.map((row) => row.text_content);
}

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, sequence) => `text ${sequence}`);
}

test("added blocks are durable after a flush", async () => {
  const { writer, turnId, problems } = await writerBehindProxy();

  addTexts(writer, turnId, [0, 1_234]);
  await writer.flush();

  expect(await storedTexts(turnId)).toEqual(texts(1_234));
  expect(writer.queuedCount).toBe(0);
  expect(problems).toEqual([]);
});

test("added blocks are written without a flush, in order", async () => {
  const { proxy, writer, turnId } = await writerBehindProxy({ maxBatch: 2 });
  proxy.delayMs = 20;
  addTexts(writer, turnId, [0, 9]);
  const seen: number[] = [];

  await expect
    .poll(async () => {
      const stored = await storedTexts(turnId);
      expect(stored).toEqual(texts(stored.length));
      return seen.push(stored.length) && stored.length;
    })
    .toBe(9);

  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
});

test("a flush of nothing resolves immediately, even without a database", async () => {
  const { proxy, writer } = await writerBehindProxy();
  proxy.pause();

  await expect(writer.flush()).resolves.toBeUndefined();
});

test("a slow database does not slow down the caller", async () => {
  const { proxy, writer, turnId } = await writerBehindProxy();
  addTexts(writer, turnId, [0, 1]);
  await writer.flush();
  proxy.delayMs = 5_000;
  const start = performance.now();
  const computedBefore = cpuMs();

  addTexts(writer, turnId, [1, 500]);
  const addedMs = cpuMs() - computedBefore;
  await writer.flush();

  expect(addedMs).toBeLessThan(100);
  expect(performance.now() - start).toBeGreaterThan(4_000);
  expect(await storedTexts(turnId)).toEqual(texts(500));
});

test("connections that break in the middle cause no lost or repeated blocks", async () => {
  const { proxy, writer, turnId, problems } = await writerBehindProxy({ maxBatch: 10 });
  proxy.delayMs = 2;
  for (let round = 0; round < 5; round++) {
    addTexts(writer, turnId, [round * 100, round * 100 + 100]);
    await expect.poll(() => writer.queuedCount, { interval: 1 }).toBeLessThan(70);
    proxy.cut();
  }

  await writer.flush();

  expect(await storedTexts(turnId)).toEqual(texts(500));
  expect(problems).toEqual([]);
});

test("a batch whose answer was lost is sent again and stored once", async () => {
  const { proxy, writer, turnId, problems } = await writerBehindProxy();
  addTexts(writer, turnId, [0, 1]);
  await writer.flush();
  proxy.loseNextAnswer();

  addTexts(writer, turnId, [1, 5]);
  await writer.flush();

  expect(await storedTexts(turnId)).toEqual(texts(5));
  expect(problems).toEqual([]);
});

test("an unreachable database makes a flush fail after its limit, and a later one works", async () => {
  const { proxy, writer, turnId, problems } = await writerBehindProxy({ flushTimeoutMs: 300 });
  proxy.isRefusing = true;
  proxy.cut();
  addTexts(writer, turnId, [0, 3]);

  await expect(writer.flush()).rejects.toMatchObject({
    code: "unavailable",
    message: "The database did not store the conversation within 300 ms",
    cause: { code: "unavailable" },
  });
  expect(writer.queuedCount).toBe(3);

  proxy.isRefusing = false;
  await expect.poll(() => writer.queuedCount).toBe(0);
  await writer.flush();
  expect(await storedTexts(turnId)).toEqual(texts(3));
  expect(problems).toEqual([]);
});

test("a database that hangs makes a flush fail after its limit, and a later one works", async () => {
  const { proxy, writer, turnId } = await writerBehindProxy({ flushTimeoutMs: 200 });
  proxy.pause();
  addTexts(writer, turnId, [0, 3]);

  await expect(writer.flush()).rejects.toMatchObject({ code: "unavailable" });

  proxy.resume();
  await writer.flush();
  expect(await storedTexts(turnId)).toEqual(texts(3));
});

test("blocks beyond the limit are refused, which the next flush reports", async () => {
  const { proxy, writer, turnId, problems } = await writerBehindProxy({ maxQueued: 10 });
  const {
    turn: { id: otherTurnId },
  } = await storedTurn(database.sql);
  proxy.pause();
  addTexts(writer, turnId, [0, 12]);
  const flushed = Promise.allSettled([writer.flush(), writer.flush()]);
  proxy.resume();

  const overflow = { status: "rejected", reason: { code: "queue_overflow" } };
  expect(await flushed).toMatchObject([overflow, overflow]);
  expect(problems).toMatchObject([
    { outcome: "lost", row: { block: { sequence: 10 } }, error: { code: "queue_overflow" } },
    { outcome: "lost", row: { block: { sequence: 11 } } },
  ]);
  expect(await storedTexts(turnId)).toEqual(texts(10));
  addTexts(writer, otherTurnId, [0, 1]);
  await writer.flush();
});

test("a turn that has lost a block accepts no more, so it has no gaps", async () => {
  const { proxy, writer, turnId } = await writerBehindProxy({ maxQueued: 2 });
  proxy.pause();
  addTexts(writer, turnId, [0, 3]);
  proxy.resume();
  await expect(writer.flush()).rejects.toMatchObject({ code: "queue_overflow" });

  addTexts(writer, turnId, [3, 4]);

  await expect(writer.flush()).rejects.toMatchObject({ code: "invalid_state" });
  expect(await storedTexts(turnId)).toEqual(texts(2));
});

test.each<[string, Pick<TurnBlock, "textContent" | "content">]>([
  ["NUL in text", { textContent: "a\0b", content: null }],
  ["NUL in content", { textContent: null, content: { a: ["\0"] } }],
  ["a lone surrogate in text", { textContent: "\ud800", content: null }],
  ["a lone surrogate in content", { textContent: null, content: { "\udfff": 1 } }],
  ["a bigint", { textContent: null, content: { big: 1n as unknown as number } }],
])("one row with %s is visibly replaced and affects no other", async (_, bad) => {
  const { writer, turnId, problems } = await writerBehindProxy();
  addTexts(writer, turnId, [0, 3]);
  writer.add({ turnId, block: { sequence: 3, blockType: "text", ...bad } });
  addTexts(writer, turnId, [4, 6]);

  await writer.flush();

  expect(problems).toMatchObject([{ outcome: "replaced", row: { block: { sequence: 3 } } }]);
  const stored = await storedTexts(turnId);
  const note = bad.textContent === null ? null : "[This block's content could not be stored.]";
  expect(stored).toEqual(["text 0", "text 1", "text 2", note, "text 4", "text 5"]);
});

test("a tool result that cannot be stored still answers its tool use", async () => {
  const { writer, turnId } = await writerBehindProxy();
  const content = { tool_use_id: "toolu_1", content: "\0" };

  writer.add({ turnId, block: { sequence: 0, blockType: "tool_result", textContent: null, content } });
  await writer.flush();

  const note = "[This block's content could not be stored.]";
  expect(await database.sql`select content from turn_blocks where turn_id = ${turnId}`).toMatchObject([
    { content: { tool_use_id: "toolu_1", content: note, is_error: true, unstorable: true } },
  ]);
});

test("a block whose place is taken by another is lost, not overwritten and not ignored", async () => {
  const { writer, turnId, problems } = await writerBehindProxy();
  await database.sql`insert into turn_blocks values (${turnId}, 1, 'text', 'theirs', null)`;

  addTexts(writer, turnId, [0, 2]);

  await expect(writer.flush()).rejects.toMatchObject({ code: "invalid_state" });
  expect(problems).toMatchObject([{ outcome: "lost", row: { block: { sequence: 1 } } }]);
  expect(await storedTexts(turnId)).toEqual(["text 0", "theirs"]);
});

test("blocks of an unknown turn are lost, others in the batch are not", async () => {
  const { writer, turnId, problems } = await writerBehindProxy();

  writer.add({ turnId: "none", block: textBlock(0) });
  addTexts(writer, turnId, [0, 2]);

  await expect(writer.flush()).rejects.toMatchObject({ code: "internal" });
  expect(problems).toMatchObject([{ outcome: "lost", row: { turnId: "none" } }]);
  expect(await storedTexts(turnId)).toEqual(texts(2));
  await writer.flush();
});

test("once another worker owns the session, every block is lost immediately", async () => {
  const { writer, turnId, problems, claimAnew } = await writerBehindProxy();
  addTexts(writer, turnId, [0, 2]);
  await writer.flush();
  await claimAnew();

  addTexts(writer, turnId, [2, 4]);

  await expect(writer.flush()).rejects.toMatchObject({ code: "lost_lease" });
  const lost = { outcome: "lost", error: { code: "lost_lease" } };
  expect(problems).toMatchObject([lost, lost]);
  expect(await storedTexts(turnId)).toEqual(texts(2));
});

test("close flushes, and blocks added later are refused", async () => {
  const { writer, turnId, problems } = await writerBehindProxy();
  addTexts(writer, turnId, [0, 3]);

  await Promise.all([writer.close(), writer.close()]);
  addTexts(writer, turnId, [3, 4]);

  expect(await storedTexts(turnId)).toEqual(texts(3));
  expect(problems).toMatchObject([{ outcome: "lost", row: { block: { sequence: 3 } } }]);
});

test("close without a database reports what is lost and leaves no timer", async () => {
  const { proxy, writer, turnId, problems } = await writerBehindProxy({ flushTimeoutMs: 100 });
  proxy.isRefusing = true;
  proxy.cut();
  addTexts(writer, turnId, [0, 2]);

  await expect(writer.close()).rejects.toMatchObject({ code: "unavailable" });

  expect(problems).toMatchObject([
    { outcome: "lost", row: { block: { sequence: 0 } }, error: { code: "unavailable" } },
    { outcome: "lost", row: { block: { sequence: 1 } }, error: { code: "unavailable" } },
  ]);
  expect(writer.queuedCount).toBe(0);
});

/** Wraps a write, and records the texts of the blocks that it receives. */
function recordTexts(inner: (rows: readonly TurnBlockRow[]) => Promise<number>) {
  const received: string[][] = [];
  const write = (rows: readonly TurnBlockRow[]) => {
    received.push(rows.map(({ block }) => block.textContent ?? ""));
    return inner(rows);
  };
  return { received, write };
}

test("a combined write includes all blocks that wait, and the next one those added since", async () => {
  const { writer, session, turnId } = await writerBehindProxy();
  const { received, write } = recordTexts((rows) => insertBlocks(session, rows));

  addTexts(writer, turnId, [0, 2]);
  await writer.writeTogether(write);
  const later = writer.writeTogether(write);
  addTexts(writer, turnId, [2, 3]);
  await later;

  expect(received).toEqual([["text 0", "text 1"], ["text 2"]]);
  expect(await storedTexts(turnId)).toEqual(texts(3));
  expect(writer.queuedCount).toBe(0);
});

test("blocks that another write cannot store are stored without it, and it is made without them", async () => {
  const { writer, turnId, problems } = await writerBehindProxy();
  const { received, write } = recordTexts(async (rows) => {
    if (rows.length > 0) throw new AppError("internal", "refused");
    return 0;
  });

  addTexts(writer, turnId, [0, 1]);
  await writer.writeTogether(write);
  await writer.flush();

  expect(received).toEqual([["text 0"], []]);
  expect(await storedTexts(turnId)).toEqual(texts(1));
  expect(problems).toEqual([]);
});

test("blocks whose other write was not answered are kept, and compared with what is stored", async () => {
  const { writer, session, turnId, problems } = await writerBehindProxy();
  const { write } = recordTexts(async (rows) => {
    await insertBlocks(session, rows);
    throw new AppError("unavailable", "no answer");
  });

  addTexts(writer, turnId, [0, 2]);
  await expect(writer.writeTogether(write)).rejects.toMatchObject({ code: "unavailable" });
  await writer.flush();

  expect(await storedTexts(turnId)).toEqual(texts(2));
  expect(problems).toEqual([]);
});

test("a different block in the place of an included one is reported", async () => {
  const { writer, session, turnId, problems } = await writerBehindProxy();
  await insertBlocks(session, [{ turnId, block: textBlock(0, "another one's") }]);

  addTexts(writer, turnId, [0, 1]);
  await writer.writeTogether((rows) => insertBlocks(session, rows));
  await expect(writer.flush()).rejects.toMatchObject({ code: "invalid_state" });

  expect(problems).toMatchObject([{ outcome: "lost" }]);
});
