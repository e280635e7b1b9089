import { expect, test } from "vitest";
import type { TurnRecord } from "../../../src/conversation/turn-record.ts";
import { success } from "../../../src/tool/outcome.ts";
import { createId } from "../../../src/lib/id.ts";
import { Recorder } from "../../../src/session/record/recorder.ts";
import type { Sql } from "../../../src/store/database/pool.ts";
import { callOf } from "../../support/call.ts";
import { PublishedSession } from "../../support/doubles/published-session.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

function recorderOf(
  { id: sessionId }: PublishedSession,
  sql: Sql,
  onLost: (error: Error) => void = () => {},
): Recorder {
  const writer = { sql, lease: { sessionId, epoch: 1 } };
  return new Recorder({ writer, untilOwned: async () => {}, lose: () => {} }, { onLost });
}

const newTurn = (id: string): TurnRecord => ({
  id,
  position: 1,
  participantIdentity: "ann",
  parentMessageId: "m",
  messageId: "a",
  input: [{ type: "text", text: "Hello." }],
  state: "running",
  blocks: [],
});

test("answers that came too late are on record even if the session closes while they wait to be stored", async () => {
  await using database = await tempDatabase();
  const { sql } = database;
  const talk = await PublishedSession.begin(sql);
  const { id: turnId } = await talk.say("Hello.");
  const recorder = recorderOf(talk, sql);
  const callId = createId();
  recorder.onOpened(callOf({ id: callId, turnId }));
  recorder.onSettled(callOf({ id: callId, turnId, state: "success", outcome: success({}), revision: 2 }));
  await recorder.durable();

  for (const from of ["ann", "bob", "carol"]) recorder.onExtraAnswer(callId, { kind: "late", from, success: true });
  await recorder.close();

  const [row] = await sql<{ extra_answers: { from: string }[] }[]>`
    select extra_answers from tool_calls where id = ${callId}
  `;
  expect(row?.extra_answers.map(({ from }) => from)).toEqual(["ann", "bob", "carol"]);
});

test("a message whose turn starts while it is still being stored no longer waits", async () => {
  await using database = await tempDatabase();
  const { sql } = database;
  const talk = await PublishedSession.begin(sql);
  const recorder = recorderOf(talk, sql);
  await sql`create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.1); return new; end'`;
  await sql`create trigger slow before insert on waiting_messages for each row execute function slow()`;

  const kept = recorder.storeMessage({ id: "m", participantIdentity: "ann", content: "Hello." });
  recorder.beginTurn(newTurn("t"));
  await Promise.all([kept, recorder.durable()]);

  expect(await sql`select id from waiting_messages`).toEqual([]);
});

test("a call and the block with its use are one statement, and so are its end and its result", async () => {
  await using database = await tempDatabase();
  const { sql } = database;
  const talk = await PublishedSession.begin(sql);
  const { id: turnId } = await talk.say("Hello.");
  const statements: string[] = [];
  const counting = new Proxy(sql, {
    apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
      const query: unknown = Reflect.apply(target, self, args);
      if (args[0][0]?.includes("with fence")) statements.push(args[0].join(""));
      return query;
    },
  });
  const recorder = recorderOf(talk, counting);
  const callId = createId();
  const { add } = recorder.blocksOf(turnId);

  add({ sequence: 7, blockType: "tool_use", textContent: null, content: { tool_use_id: "toolu_1" } });
  recorder.onOpened(callOf({ id: callId, turnId }));
  await recorder.durable();
  recorder.onSettled(callOf({ id: callId, turnId, state: "success", outcome: success({}), revision: 2 }));
  await Promise.resolve();
  add({ sequence: 8, blockType: "tool_result", textContent: null, content: { tool_use_id: "toolu_1" } });
  await recorder.durable();

  expect(statements).toHaveLength(2);
  const blocks = await sql`select from turn_blocks where turn_id = ${turnId} and sequence in (7, 8)`;
  expect(blocks).toHaveLength(2);
  await recorder.close();
});

test("after a turn could not be stored nothing else is written for it, and the reported reason is the original one", async () => {
  await using database = await tempDatabase();
  const { sql } = database;
  const talk = await PublishedSession.begin(sql);
  await sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`;
  await sql`create trigger refuse before insert on turns for each row execute function refuse()`;
  const lost: string[] = [];
  const recorder = recorderOf(talk, sql, ({ message }) => lost.push(message));
  const { add } = recorder.blocksOf("t");
  const use = { blockType: "tool_use", textContent: null, content: { tool_use_id: "toolu_1" } } as const;
  const refused = "The database rejected a statement (P0001)";

  recorder.beginTurn(newTurn("t"));
  add({ ...use, sequence: 0 });
  await expect(recorder.durable()).rejects.toThrow(refused);
  add({ ...use, sequence: 1 });
  recorder.onOpened(callOf({ turnId: "t" }));

  await expect(recorder.durable()).rejects.toThrow(refused);
  expect(lost).toEqual([refused]);
  await recorder.close();
});
