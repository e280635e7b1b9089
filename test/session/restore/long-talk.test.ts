import { expect, test } from "vitest";
import { createConversationArchive } from "../../../src/session/record/conversation-archive.ts";
import { restore, type Restored } from "../../../src/session/restore/restore.ts";
import { loadCallsNow } from "../../../src/store/calls.ts";
import type { Sql } from "../../../src/store/database/pool.ts";
import type { SessionWriter } from "../../../src/store/sessions/session-writer.ts";
import { finishTurn, insertTurn } from "../../../src/store/turns/write-turns.ts";
import { insertWaitingMessage } from "../../../src/store/turns/waiting-messages.ts";
import { newTurn, storedSession } from "../../store/store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { fillTalk } from "./fill-talk.ts";

const database = forFile(tempDatabase);
const archiveOf = (writer: SessionWriter) => createConversationArchive(writer, { model: "m", maxBytes: 20_000 });
const SHORT = 300;
const LONG = 20_000;

async function storedTalk(length: number, how: { readonly isOld?: boolean } = {}): Promise<SessionWriter> {
  const writer = await storedSession(database.sql);
  await fillTalk(database.sql, { sessionId: writer.lease.sessionId, length, ...how });
  return writer;
}

/** The number of rows that the database reads for an operation. */
async function rowsRead<Result>(
  writer: SessionWriter,
  act: (writer: SessionWriter) => Promise<Result>,
): Promise<{ rows: number; result: Result }> {
  return (await database.sql.begin(async (tx) => {
    const sql = tx as unknown as Sql;
    const read = async () => {
      const [all] = await sql<{ rows: number }[]>`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables`;
      return all?.rows ?? 0;
    };
    const before = await read();
    const result = await act({ ...writer, sql });
    return { rows: (await read()) - before, result };
  })) as { rows: number; result: Result };
}

const restored = (writer: SessionWriter) => restore(writer, { archive: archiveOf(writer), resultMaxBytes: 1_000 });
const sizeOf = ({ window, messageIds }: Restored) => [window.turns.length, messageIds.length];

test("a conversation of 20,000 turns is restored by reading as many rows as one of 300, and takes no more memory", async () => {
  const [short, long] = [await storedTalk(SHORT), await storedTalk(LONG)];

  const ofShort = await rowsRead(short, restored);
  const ofLong = await rowsRead(long, restored);

  expect(sizeOf(ofLong.result)).toEqual(sizeOf(ofShort.result));
  expect(ofLong.result.window.turns.at(-1)).toMatchObject({ position: LONG, input: [{ text: "And then?" }] });
  expect(ofLong.result.lastPosition).toBe(LONG);
  expect(ofLong.rows).toBeLessThanOrEqual(ofShort.rows * 1.2);
});

test("turns from an older version, which do not record what was shown, are read from the newest back until there are enough", async () => {
  const [short, long] = [await storedTalk(SHORT, { isOld: true }), await storedTalk(LONG, { isOld: true })];

  const ofShort = await rowsRead(short, restored);
  const ofLong = await rowsRead(long, restored);

  expect(ofLong.result.window.turns.length).toBeGreaterThan(20);
  expect(ofLong.result.window.turns.length).toBeLessThan(60);
  expect(sizeOf(ofLong.result)).toEqual(sizeOf(ofShort.result));
  expect(ofLong.rows).toBeLessThanOrEqual(ofShort.rows * 1.2);
});

test("a turn in a long conversation reads no more rows than one in a short conversation, whatever it does", async () => {
  const [short, long] = [await storedTalk(SHORT), await storedTalk(LONG)];
  const turnOf = async (writer: SessionWriter) => {
    const { sessionId } = writer.lease;
    const archive = archiveOf(writer);
    const turn = newTurn();
    await insertWaitingMessage(writer, { id: turn.parentMessageId ?? "", participantIdentity: "ann", content: "Hi" });
    await insertTurn(writer, turn);
    await finishTurn(writer, { turnId: turn.id, state: "completed", lastStanza: 1_000_000 });
    await archive.find("u200");
    await archive.windowBefore(200);
    const found = await archive.answers({ after: 600, until: 615, limit: 51 });
    expect(found.map(({ messageId }) => messageId)).toEqual(["a201", "a202", "a203", "a204", "a205"]);
    return loadCallsNow(writer.sql, { sessionId });
  };

  const [ofShort, ofLong] = [await rowsRead(short, turnOf), await rowsRead(long, turnOf)];

  expect(ofLong.rows).toBeLessThanOrEqual(ofShort.rows * 1.2);
});
