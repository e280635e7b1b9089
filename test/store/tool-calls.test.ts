import { afterAll, beforeAll, expect, test } from "vitest";
import { insertToolCall } from "../../src/store/calls/insert-tool-call.ts";
import { loadToolCalls } from "../../src/store/calls/load-tool-calls.ts";
import { recordExtraAnswer } from "../../src/store/calls/record-extra-answer.ts";
import { saveCallProgress } from "../../src/store/calls/save-call-progress.ts";
import { settleToolCall } from "../../src/store/calls/settle-tool-call.ts";
import { startToolCall } from "../../src/store/calls/start-tool-call.ts";
import { tempDatabase, type TempDatabase } from "../support/temp-database.ts";
import { newCall, storedCall, storedTurn } from "./store-fixtures.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await tempDatabase();
});
afterAll(() => database.drop());

test("a call is stored pending", async () => {
  const { call } = await storedCall(database.sql);

  expect(await loadToolCalls(database.sql, { turnId: call.turnId })).toEqual([
    {
      ...call,
      isBackground: false,
      executionResolved: null,
      addressee: null,
      state: "pending",
      deadlineAt: null,
      result: null,
      errorCode: null,
      errorMessage: null,
      logs: [],
      revision: 1,
      progress: null,
      extraAnswers: [],
      editedInput: null,
      wasAskedFor: false,
      createdAt: expect.any(Number),
      startedAt: null,
      finishedAt: null,
    },
  ]);
});

test("storing the same call again is fine; another call for its tool use is not", async () => {
  const { writer, call } = await storedCall(database.sql);

  expect(await insertToolCall(writer, call)).toBe(true);
  expect(await insertToolCall(writer, { ...call, id: "other" })).toBe(false);
  expect(await loadToolCalls(database.sql, { turnId: call.turnId })).toHaveLength(1);
});

test("calls load in the order in which they were asked for", async () => {
  const { writer, turnId } = await storedTurn(database.sql);
  for (const name of ["b", "a", "c"]) await insertToolCall(writer, newCall(turnId, { name }));

  const calls = await loadToolCalls(database.sql, { turnId });

  expect(calls.map((call) => call.name)).toEqual(["b", "a", "c"]);
});

test("a started call has an addressee and a deadline, and the server may take it over", async () => {
  const { writer, callId, turnId } = await storedCall(database.sql);
  const deadlineAt = Date.now() + 30_000;

  expect(await startToolCall(writer, { callId, executionResolved: "client", addressee: "ann", deadlineAt })).toBe(true);
  const [asked] = await loadToolCalls(database.sql, { turnId });
  expect(asked).toMatchObject({ state: "running", executionResolved: "client", addressee: "ann", deadlineAt });
  expect(await startToolCall(writer, { callId, executionResolved: "server", deadlineAt })).toBe(true);
  const [taken] = await loadToolCalls(database.sql, { turnId });
  expect(taken).toMatchObject({ executionResolved: "server", addressee: null, startedAt: asked?.startedAt });
});

test("of two outcomes at once, one wins and stays", async () => {
  const { writer, callId, turnId } = await storedCall(database.sql);
  const ends = [
    { callId, state: "success", result: { temperature: 21 } },
    { callId, state: "error", errorCode: "timeout", errorMessage: "Too late" },
  ] as const;

  const won = await Promise.all(ends.map((end) => settleToolCall(writer, end)));

  expect(won.filter(Boolean)).toHaveLength(1);
  const [call] = await loadToolCalls(database.sql, { turnId });
  const { callId: _, ...winner } = ends[won.indexOf(true)] ?? ends[0];
  expect(call).toMatchObject({ ...winner, finishedAt: expect.any(Number) });
});

test("a call that has ended is not started or settled again", async () => {
  const { writer, callId, turnId } = await storedCall(database.sql);
  await settleToolCall(writer, { callId, state: "cancelled", errorCode: "cancelled", errorMessage: "Stopped" });

  expect(await startToolCall(writer, { callId, executionResolved: "server", deadlineAt: 0 })).toBe(false);
  expect(await settleToolCall(writer, { callId, state: "success", result: {} })).toBe(false);
  expect(await loadToolCalls(database.sql, { turnId })).toMatchObject([{ state: "cancelled", result: null }]);
});

test("answers that came too late are kept, at most 20", async () => {
  const { writer, callId, turnId } = await storedCall(database.sql);
  await recordExtraAnswer(writer, { callId, kind: "late", from: "ann", success: false, errorCode: "timeout" });
  for (let count = 0; count < 25; count++)
    await recordExtraAnswer(writer, { callId, kind: "duplicate", from: "ann", success: true });

  const [call] = await loadToolCalls(database.sql, { turnId });
  expect(call?.extraAnswers).toHaveLength(20);
  expect(call?.extraAnswers.slice(0, 2)).toEqual([
    { kind: "late", from: "ann", at: expect.any(Number), success: false, errorCode: "timeout" },
    { kind: "duplicate", from: "ann", at: expect.any(Number), success: true, errorCode: null },
  ]);
});

test("what a call says of itself is kept while it is open, and never replaced by what is older", async () => {
  const { writer, callId, turnId } = await storedCall(database.sql);
  const said = { callId, revision: 3, logs: ["one", "two"], progress: 0.5 };

  await saveCallProgress(writer, said);
  await saveCallProgress(writer, said);
  await saveCallProgress(writer, { ...said, revision: 2, logs: ["one"] });
  expect(await loadToolCalls(database.sql, { turnId })).toMatchObject([
    { revision: 3, logs: said.logs, progress: 0.5 },
  ]);

  await settleToolCall(writer, { callId, state: "success", result: {} });
  await saveCallProgress(writer, { ...said, revision: 9, logs: ["late"] });
  expect(await loadToolCalls(database.sql, { turnId })).toMatchObject([{ revision: 4, logs: said.logs }]);
});
