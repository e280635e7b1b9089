import { expect, test } from "vitest";
import { endedCall, type Call } from "../../src/conversation/call.ts";
import { createId } from "../../src/lib/id.ts";
import {
  loadCall,
  loadCallsNow,
  loadCallsOfTurn,
  loadUnsettledCalls,
  recordExtraAnswer,
  saveCall,
} from "../../src/store/calls.ts";
import { failure, success } from "../../src/tool/outcome.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import { newCall, storedCall, storedTurn } from "./store-fixtures.ts";
import { forFile } from "../support/lifetimes.ts";

const database = forFile(tempDatabase);

const load = async ({ turnId }: Call) => (await loadCallsOfTurn(database.sql, { turnId }))[0];
const next = (call: Call, changes: Partial<Call>): Call => ({ ...call, ...changes, revision: call.revision + 1 });

test("a call is loaded as it was stored", async () => {
  const { call, turn } = await storedCall(database.sql);
  const { messageId, participantIdentity: participant } = turn;

  expect(await load(call)).toEqual({
    ...call,
    messageId,
    participant,
    onInterrupt: "finish",
    hasStoredPermission: false,
  });
});

test("every change to a call is stored, and so is its end", async () => {
  const { writer, call } = await storedCall(database.sql);
  const running = next(call, {
    state: "running",
    executionResolved: "client",
    addressee: "ann",
    startedAt: Date.now(),
    deadlineAt: Date.now() + 30_000,
    isBackground: true,
    logs: ["one", "two"],
    progress: 0.5,
  });
  await saveCall(writer, running);
  expect(await load(call)).toMatchObject({ ...running, messageId: expect.any(String), onInterrupt: "finish" });

  const ended = endedCall(running, { ...failure("timeout", "Too late"), result: { half: true } });
  await saveCall(writer, ended);
  expect(await load(call)).toMatchObject({ ...ended, messageId: expect.any(String), onInterrupt: "finish" });
});

test("the server may take over a call, which keeps its start", async () => {
  const { writer, call } = await storedCall(database.sql);
  const asked = next(call, { state: "running", executionResolved: "client", addressee: "ann", startedAt: 1_000 });
  await saveCall(writer, asked);
  await saveCall(writer, next(asked, { executionResolved: "server", addressee: undefined, startedAt: 2_000 }));

  expect(await load(call)).toMatchObject({ executionResolved: "server", addressee: undefined, startedAt: 1_000 });
});

test("a tool name from the model is stored even if it is not a valid text", async () => {
  const { writer, turn } = await storedTurn(database.sql);
  const call = newCall(turn.id, { toolName: "scan\ud800" });
  await saveCall(writer, call);

  expect(await load(call)).toMatchObject({ toolName: "scan\ufffd" });
});

test("storing the same call again is fine; another call for its tool use is not", async () => {
  const { writer, call } = await storedCall(database.sql);
  await saveCall(writer, call);

  await expect(saveCall(writer, { ...call, id: createId() })).rejects.toMatchObject({ code: "internal" });
  expect(await loadCallsOfTurn(database.sql, call)).toHaveLength(1);
});

test("calls load in the order in which they were requested", async () => {
  const { writer, turn } = await storedTurn(database.sql);
  for (const toolName of ["b", "a", "c"]) await saveCall(writer, newCall(turn.id, { toolName }));

  const calls = await loadCallsOfTurn(database.sql, { turnId: turn.id });

  expect(calls.map(({ toolName }) => toolName)).toEqual(["b", "a", "c"]);
});

test("of two outcomes at once, one wins and stays", async () => {
  const { writer, call } = await storedCall(database.sql);
  const ends = [success({ temperature: 21 }), failure("timeout", "Too late")].map((end) => endedCall(call, end));

  await Promise.all(ends.map((end) => saveCall(writer, end)));

  const won = await load(call);
  expect(ends.map(({ outcome }) => outcome)).toContainEqual(won?.outcome);
  for (const end of ends) await saveCall(writer, { ...end, revision: 99 });
  expect(await load(call)).toEqual(won);
});

test("a call that has ended is neither started nor ended again", async () => {
  const { writer, call } = await storedCall(database.sql);
  const ended = endedCall(call, failure("cancelled", "Stopped"));
  await saveCall(writer, ended);
  await saveCall(writer, next(ended, { state: "running", outcome: undefined }));
  await saveCall(writer, endedCall(ended, success({})));

  expect(await load(call)).toMatchObject({ state: "cancelled", outcome: ended.outcome, revision: ended.revision });
});

test("a call's own updates are never replaced by older ones", async () => {
  const { writer, call } = await storedCall(database.sql);
  await saveCall(writer, { ...call, revision: 3, logs: ["one", "two"], progress: 0.5 });
  await saveCall(writer, { ...call, revision: 2, logs: ["one"] });

  expect(await load(call)).toMatchObject({ revision: 3, logs: ["one", "two"], progress: 0.5 });
});

test("open calls are found only in their session, and so is a call by its id", async () => {
  const { writer, call } = await storedCall(database.sql);
  const { sessionId } = writer.lease;
  const ended = newCall(call.turnId);
  await saveCall(writer, endedCall(ended, success({})));
  const idsOf = (calls: readonly Call[]) => calls.map(({ id }) => id);

  const unsettled = await loadUnsettledCalls(database.sql, { sessionId });
  expect(unsettled).toMatchObject([{ call: { id: call.id }, resultInTurn: null, lateResult: null, isReplaced: false }]);
  // Ended calls are included as well, because their turn is still running.
  expect(idsOf(await loadCallsNow(database.sql, { sessionId }))).toEqual([call.id, ended.id]);
  expect(await loadCall(database.sql, { sessionId, callId: call.id })).toMatchObject({ id: call.id });
  expect(await loadCall(database.sql, { sessionId: "another", callId: call.id })).toBeUndefined();
});

test("late answers are kept, at most 20", async () => {
  const { writer, call } = await storedCall(database.sql);
  const { id: callId } = call;
  const late = { kind: "late", from: "ann", success: false, errorCode: "timeout" } as const;
  await recordExtraAnswer(writer, { callId, answer: late });
  for (let count = 0; count < 25; count++)
    await recordExtraAnswer(writer, { callId, answer: { kind: "duplicate", from: "ann", success: true } });

  const [row] = await database.sql`select extra_answers as answers from tool_calls where id = ${callId}`;
  expect(row?.["answers"]).toHaveLength(20);
  expect(row?.["answers"].slice(0, 2)).toEqual([
    { ...late, at: expect.any(Number) },
    { kind: "duplicate", from: "ann", at: expect.any(Number), success: true, errorCode: null },
  ]);
});
