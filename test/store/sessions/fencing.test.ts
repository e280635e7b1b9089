import { expect, test } from "vitest";
import { claimSession } from "../../../src/store/sessions/leases.ts";
import { storeStateChange } from "../../../src/store/sessions/session-state.ts";
import { endPermission, insertPermission, withdrawPermissions } from "../../../src/store/permissions/ask-permission.ts";
import {
  finishSpeech,
  finishTurn,
  insertTurn,
  storeContext,
  storeProgress,
} from "../../../src/store/turns/write-turns.ts";
import { insertBlocks } from "../../../src/store/turns/write-blocks.ts";
import { insertCommentary } from "../../../src/store/turns/insert-commentary.ts";
import { EVENT_CHANNEL, notifyEvents } from "../../../src/store/events.ts";
import { markReported, recordExtraAnswer, saveCall } from "../../../src/store/calls.ts";
import { insertMedia } from "../../../src/store/media.ts";
import { insertSummary } from "../../../src/store/turns/summaries.ts";
import { insertWaitingMessage, loadWaitingMessages } from "../../../src/store/turns/waiting-messages.ts";
import { beginRoom, endRoom } from "../../../src/store/sessions/session-rooms.ts";
import { reserveStanzas, trimStanzas } from "../../../src/store/sessions/stanzas.ts";
import { endedCall } from "../../../src/conversation/call.ts";
import { NO_SUMMARY_TEXT } from "../../../src/conversation/summary.ts";
import { createId } from "../../../src/lib/id.ts";
import type { SessionWriter } from "../../../src/store/sessions/session-writer.ts";
import { storeFirstAgent, storeLanguage, storeSessionAgent, setOpener } from "../../../src/store/sessions/sessions.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { newCall, newPermission, newTurn, sessionClaim, textBlock, writerOf } from "../store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";

const database = forFile(tempDatabase);

/**
 * A session with a running turn and an open call that asks for permission, left by a worker whose lease has expired.
 */
async function leftBehind() {
  const claim = sessionClaim({ participantIdentity: null, leaseMs: 0 });
  await claimSession(database.sql, claim);
  const stale = writerOf(database.sql, claim.sessionId);
  const turn = newTurn();
  await insertTurn(stale, turn);
  const call = newCall(turn.id);
  await saveCall(stale, call);
  const { permission } = await newPermission(database.sql, { sessionId: claim.sessionId });
  await insertPermission(stale, permission);
  await insertWaitingMessage(stale, waitingMessage());
  await beginRoom(stale, { roomSid: ROOM, agent: "first", afterPosition: 0, hasEndWebhook: true });
  const { permission: unasked } = await newPermission(database.sql, { sessionId: claim.sessionId });
  const takeOver = () => claimSession(database.sql, { ...claim, owner: "worker-2", leaseMs: 60_000 });
  return { stale, turn, call, permission, unasked, takeOver };
}

const ROOM = "RM_first";

function waitingMessage() {
  return { id: createId(), participantIdentity: "ann", content: "Hello" };
}

type LeftBehind = Awaited<ReturnType<typeof leftBehind>>;

/** Every kind of write for a session. */
const WRITES: Record<string, (writer: SessionWriter, left: LeftBehind) => Promise<unknown>> = {
  insertTurn: (writer) => insertTurn(writer, newTurn()),
  insertBlocks: (writer, { turn }) => insertBlocks(writer, [{ turnId: turn.id, block: textBlock(0) }]),
  finishTurn: (writer, { turn }) => finishTurn(writer, { turnId: turn.id, state: "completed" }),
  finishSpeech: (writer, { turn }) => finishSpeech(writer, { turnId: turn.id, state: "completed", heard: undefined }),
  storeProgress: (writer, { turn }) => storeProgress(writer, { turnId: turn.id, progress: { asides: 1 } }),
  insertCommentary: (writer, { turn }) =>
    insertCommentary(writer, { messageId: turn.messageId, participantIdentity: "ann", content: "no" }),
  "saveCall, of a new one": (writer, { turn }) => saveCall(writer, newCall(turn.id)),
  storeStateChange: (writer) =>
    storeStateChange(writer, { version: 1, state: { a: 1 }, fields: { a: { after: 1 } }, turnId: null }),
  "saveCall, of its end": (writer, { call }) => saveCall(writer, endedCall(call, { state: "success", result: {} })),
  recordExtraAnswer: (writer, { call }) =>
    recordExtraAnswer(writer, { callId: call.id, answer: { kind: "late", from: "ann", success: true } }),
  insertPermission: (writer, { unasked }) => insertPermission(writer, unasked),
  endPermission: (writer, { permission }) => endPermission(writer, { permissionId: permission.id, state: "withdrawn" }),
  withdrawPermissions: (writer, { permission }) => withdrawPermissions(writer, { callId: permission.callId }),
  storeContext: (writer, { turn }) => storeContext(writer, { turnId: turn.id, context: { from: 0 } }),
  markReported: (writer, { call }) => markReported(writer, { callIds: [call.id] }),
  insertMedia: (writer) =>
    insertMedia(writer, {
      callId: null,
      from: "ann",
      media: [{ id: createId(), mediaType: "image/png", bytes: new Uint8Array(1) }],
    }),
  insertSummary: (writer, { turn }) =>
    insertSummary(writer, {
      ...NO_SUMMARY_TEXT,
      id: createId(),
      from: 1,
      to: 1,
      toTurn: turn.id,
      promises: [],
      people: [],
    }),
  insertWaitingMessage: (writer) => insertWaitingMessage(writer, waitingMessage()),
  "loadWaitingMessages, which forgets old ones": (writer) => loadWaitingMessages(writer, { withinMs: -1_000 }),
  storeFirstAgent: (writer) => storeFirstAgent(writer, { agent: "stale", dispatch: "", roomSid: "RM_second" }),
  storeSessionAgent: (writer) => storeSessionAgent(writer, { agent: "stale", roomSid: ROOM }),
  storeLanguage: (writer) => storeLanguage(writer, { identity: "ann", language: "nl" }),
  beginRoom: (writer) =>
    beginRoom(writer, { roomSid: "RM_second", agent: "stale", afterPosition: 1, hasEndWebhook: true }),
  endRoom: (writer) => endRoom(writer, { roomSid: ROOM, reason: "room_deleted", hasEndWebhook: true }),
  reserveStanzas: (writer) => reserveStanzas(writer, { count: 5 }),
};

/** Writes that do nothing, but do not fail either, because nobody needs their result. */
const SILENT: typeof WRITES = {
  setOpener: (writer) => setOpener(writer, { identity: "stale" }),
  trimStanzas: (writer) => trimStanzas(writer, { last: -1 }),
  notifyEvents: (writer) => notifyEvents(writer, ["of the stale one"]),
};

const TABLES = [
  ..."sessions turns turn_blocks tool_calls permissions commentaries".split(" "),
  ..."media summaries waiting_messages session_rooms webhooks".split(" "),
];

async function allRows(): Promise<unknown[]> {
  const rows = TABLES.map((table) => database.sql`select * from ${database.sql(table)} order by 1, 2`);
  return Promise.all(rows);
}

test.each(Object.entries(WRITES))("%s by a worker that has lost the session changes nothing", async (_, write) => {
  const left = await leftBehind();
  await left.takeOver();
  const before = await allRows();

  await expect(write(left.stale, left)).rejects.toMatchObject({ code: "lost_lease" });

  expect(await allRows()).toEqual(before);
});

test.each(Object.entries(SILENT))("%s by a worker that has lost the session does nothing", async (_, write) => {
  const left = await leftBehind();
  await left.takeOver();
  const before = await allRows();
  const heard: string[] = [];
  const listening = await database.sql.listen(EVENT_CHANNEL, (payload) => heard.push(payload));

  await write(left.stale, left);
  await database.sql.notify(EVENT_CHANNEL, "last");

  await expect.poll(() => heard).toEqual(["last"]);
  await listening.unlisten();
  expect(await allRows()).toEqual(before);
});

test("a statement that has started ends before the next claim, and one that waits for a claim writes nothing", async () => {
  const left = await leftBehind();
  const order: string[] = [];

  await database.sql.begin(async (transaction) => {
    await insertTurn({ ...left.stale, sql: transaction as unknown as typeof database.sql }, newTurn());
    const claimed = left.takeOver().then(() => order.push("claimed"));
    const late = insertTurn(left.stale, newTurn()).then(
      () => order.push("written"),
      () => order.push("refused"),
    );
    await untilBlocked(2);
    order.push("committed");
    return [claimed, late];
  });

  await expect.poll(() => order).toHaveLength(3);
  // PostgreSQL decides which of the two waiting statements runs first. The committed write came before the claim.
  const [first, ...rest] = order;
  expect(first).toBe("committed");
  expect([
    ["claimed", "refused"],
    ["written", "claimed"],
  ]).toContainEqual(rest);
});

async function untilBlocked(count: number): Promise<void> {
  const blocked = async () => {
    const rows = await database.sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `;
    return rows.length;
  };
  await expect.poll(blocked).toBe(count);
}
