import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { saveCall } from "../../../src/store/calls.ts";
import { addMemory } from "../../../src/store/memory/memories.ts";
import { releaseLease } from "../../../src/store/sessions/leases.ts";
import { beginRoom, endRoom } from "../../../src/store/sessions/session-rooms.ts";
import type { SessionWriter } from "../../../src/store/sessions/session-writer.ts";
import { storeLanguage } from "../../../src/store/sessions/sessions.ts";
import { addSpending } from "../../../src/store/spending/spending.ts";
import { insertSummary } from "../../../src/store/turns/summaries.ts";
import { insertWaitingMessage } from "../../../src/store/turns/waiting-messages.ts";
import { insertBlocks } from "../../../src/store/turns/write-blocks.ts";
import { finishTurn, insertTurn } from "../../../src/store/turns/write-turns.ts";
import { newCall, newTurn, storedPermission, storedSession, textBlock } from "../../store/store-fixtures.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const CLI = fileURLToPath(new URL("../../../src/cli/parley.ts", import.meta.url));
const secret = "secret-of-the-token-route";

const database = forEachTest(tempDatabase);
const server = forEachTest(() => EventServer.start({ databaseUrl: database.url, tokenSecret: secret }));

async function erase(
  identity: string,
  secrets: NodeJS.ProcessEnv = { TOKEN_SECRET: secret },
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, ...secrets };
  const args = [CLI, "erase", "--identity", identity, "--http", server.url];
  return promisify(execFile)(process.execPath, args, { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

/** Stores a session with ann and bob. In one of bob's turns, ann's device has answered a call. */
async function talk() {
  const { sql } = database;
  const writer = await storedSession(sql);
  for (const participantIdentity of ["ann", "bob"]) {
    const turn = newTurn({ participantIdentity, input: [{ type: "text", text: `${participantIdentity} speaks` }] });
    await insertTurn(writer, turn);
    const outcome = { state: "success", result: { value: "a secret of ann's" } } as const;
    const call = newCall(turn.id, { toolUseId: `toolu_${turn.id}`, addressee: "ann", state: "success", outcome });
    await saveCall(writer, call);
    const content = { tool_use_id: call.toolUseId };
    await insertBlocks(
      writer,
      [
        {
          ...textBlock(0),
          blockType: "tool_use",
          textContent: null,
          content: { ...content, tool_name: "scan", input: {} },
        },
        {
          ...textBlock(1),
          blockType: "tool_result",
          textContent: null,
          content: { ...content, content: "a secret of ann's" },
        },
        textBlock(2, "An answer."),
      ].map((block) => ({ turnId: turn.id, block })),
    );
    await finishTurn(writer, { turnId: turn.id, state: "completed" });
  }
  await addMemory(sql, { identity: "ann", text: "Tea" });
  await storeLanguage(writer, { identity: "ann", language: "de" });
  const spending = {
    model: "m",
    purpose: "step",
    calls: 1,
    money: 0,
    worker: "host",
    sessionId: writer.lease.sessionId,
  };
  const tokens = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  await addSpending(sql, { ...spending, ...tokens, identity: "ann" });
  return writer;
}

/** Everything stored in the database, as text. */
async function databaseText(): Promise<string> {
  const { sql } = database;
  const tables = ["sessions", "turns", "summaries", "turn_blocks", "tool_calls", "permissions", "memories", "spending"];
  const rows = await Promise.all(tables.map((table) => sql`select * from ${sql(table)}`));
  return JSON.stringify(rows);
}

test("parley erase removes everything stored about a person, reports what was removed, and keeps what others said", async () => {
  await releaseLease(await talk());

  const { code, stdout } = await erase("ann");

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    turns: 1,
    deviceResults: 1,
    permissions: 0,
    grants: 0,
    notes: 0,
    waitingMessages: 0,
    webhooks: 0,
    memories: 1,
    spending: 1,
  });
  expect(await databaseText()).not.toContain("ann");
  expect(await databaseText()).not.toContain("secret");
  expect(await databaseText()).toContain("bob speaks");
});

test("a command reads the token's secret from a file, and reports in one line if it cannot", async () => {
  await using folder = await tempFolder();
  const file = join(folder.path, "token-secret");
  await writeFile(file, `${secret}\n`);
  await releaseLease(await talk());

  const erased = await erase("ann", { TOKEN_SECRET_FILE: file });
  const refused = await erase("ann", { TOKEN_SECRET_FILE: "/nowhere/secret" });

  expect(JSON.parse(erased.stdout)).toMatchObject({ turns: 1 });
  expect([refused.code, refused.stderr]).toEqual([
    1,
    "parley erase: TOKEN_SECRET_FILE: cannot read /nowhere/secret (ENOENT)\n",
  ]);
});

test("webhooks for sessions with a turn of the person are removed, and others stay", async () => {
  const { sql } = database;
  const end = async (writer: SessionWriter, roomSid: string) => {
    await endRoom(writer, { roomSid, reason: "participants_left", hasEndWebhook: true });
    await releaseLease(writer);
  };
  const begin = (writer: SessionWriter, roomSid: string, afterPosition: number) =>
    beginRoom(writer, { roomSid, agent: "default", afterPosition, hasEndWebhook: true });
  const others = await storedSession(sql);
  await begin(others, "RM_others", 0);
  await insertTurn(others, newTurn({ participantIdentity: "bob" }));
  await end(others, "RM_others");
  const writer = await talk();
  await begin(writer, "RM_with_ann", 0);
  // A later room of the same name, in which ann takes no part.
  await begin(writer, "RM_later", 2);
  await insertTurn(writer, newTurn({ participantIdentity: "bob" }));
  await end(writer, "RM_later");

  const { stdout } = await erase("ann");

  expect(JSON.parse(stdout)).toMatchObject({ turns: 1, webhooks: 1 });
  expect(await sql`select id from webhooks order by id`).toEqual([{ id: "ended_RM_later" }, { id: "ended_RM_others" }]);
});

test("notes on a conversation in which the person spoke are removed, too, as are the tools the model was shown for the person", async () => {
  const { sql } = database;
  const writer = await talk();
  const own = await storedSession(sql);
  const notes = { textFrom: 1, textTo: 1, model: "small", usage: null, from: 1, to: 1 };
  for (const [of, identity] of [
    [writer, "ann"],
    [own, "eve"],
  ] as const) {
    const turn = newTurn({ participantIdentity: identity === "ann" ? "bob" : identity });
    const added = [{ name: "scan", description: `Of ${identity}.`, inputSchema: {}, owner: identity }];
    await insertTurn(of, turn);
    const context = { from: 1, tools: [{ before: 0, added, removed: [] }] };
    await finishTurn(of, { turnId: turn.id, state: "completed", context });
    const text = identity === "ann" ? "They spoke of ann's secret." : "They spoke of tea.";
    const people = ["bob", identity].map((each) => ({ identity: each, language: null }));
    const promises = ["bob", identity].map((participant) => ({ toolUseId: "toolu_1", toolName: "bake", participant }));
    const id = identity === "ann" ? "s-first" : "s-second";
    await insertSummary(of, { ...notes, id, text, people, promises, toTurn: turn.id });
  }
  await releaseLease(writer);
  await releaseLease(own);

  await erase("ann");

  expect(await databaseText()).not.toContain("ann");
  const [bob, eve] = ["bob", "eve"].map((identity) => ({ identity, language: null }));
  const rows =
    await sql`select text, model, people, jsonb_array_length(promises) as promises from summaries order by id`;
  expect(rows).toEqual([
    { text: null, model: null, people: [bob], promises: 1 },
    { text: "They spoke of tea.", model: "small", people: [bob, eve], promises: 2 },
  ]);
  expect(await databaseText()).toContain("Of eve.");
});

test("notes on a conversation are removed even if the person has not spoken, when the person's device has answered", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  const turn = newTurn({ participantIdentity: "bob" });
  await insertTurn(writer, turn);
  await saveCall(writer, newCall(turn.id, { addressee: "ann", state: "success" }));
  const people = [{ identity: "bob", language: null }];
  const notes = { text: "The phone said 4711.", textFrom: 1, textTo: 1, model: "small", usage: null, promises: [] };
  await insertSummary(writer, { ...notes, people, id: "s", from: 1, to: 1, toTurn: turn.id });
  await releaseLease(writer);

  await erase("ann");

  expect(await sql`select text, people from summaries`).toEqual([{ text: null, people }]);
});

test("summaries that the API wrote for the person's conversation are removed, and its tokens are counted again", async () => {
  const { sql } = database;
  const writer = await talk();
  const turn = newTurn({ participantIdentity: "bob" });
  await insertTurn(writer, turn);
  const content = { type: "compaction", content: "They spoke of ann's secret." };
  const block = { ...textBlock(0), blockType: "compaction", textContent: null, content };
  await insertBlocks(writer, [{ turnId: turn.id, block }]);
  const context = { from: 3, measured: { tokens: 100, bytes: 400 } };
  await finishTurn(writer, { turnId: turn.id, state: "completed", context });
  await releaseLease(writer);

  await erase("ann");

  expect(await databaseText()).not.toContain("secret");
  expect(await sql`select context from turns where id = ${turn.id}`).toEqual([{ context: { from: 3 } }]);
});

test("the person's message is removed even where somebody else had it answered again", async () => {
  const writer = await talk();
  const input = [{ type: "text", text: "ann speaks", from: "ann" }] as const;
  await insertTurn(writer, newTurn({ participantIdentity: "bob", input }));
  await releaseLease(writer);

  expect(JSON.parse((await erase("ann")).stdout)).toMatchObject({ turns: 2 });
  expect(await databaseText()).not.toContain("ann");
});

test("nothing is removed while a session with the person is active", async () => {
  await talk();

  const { code, stderr } = await erase("ann");

  expect([code, stderr]).toEqual([
    1,
    `parley erase: ${server.url}/participant/ann answered 409: The session in room "kitchen" is still open: try again after everybody has left the room\n`,
  ]);
  expect(await databaseText()).toContain("ann speaks");
});

test("nothing is removed while a message from the person waits, or an active session has a call on the person's device", async () => {
  const { sql } = database;
  const writer = await storedSession(sql);
  await insertWaitingMessage(writer, { id: "u1", participantIdentity: "ann", content: "Hello" });
  const other = await storedSession(sql);
  const turn = newTurn({ participantIdentity: "bob" });
  await insertTurn(other, turn);
  await saveCall(other, newCall(turn.id, { addressee: "eve" }));

  expect([(await erase("ann")).code, (await erase("eve")).code]).toEqual([1, 1]);
  await releaseLease(writer);
  await releaseLease(other);
  expect(JSON.parse((await erase("ann")).stdout)).toMatchObject({ waitingMessages: 1 });
  expect(JSON.parse((await erase("eve")).stdout)).toMatchObject({ deviceResults: 1 });
});

test("nobody else's data is erased", async () => {
  await storedPermission(database.sql);
  const headers = { authorization: `Bearer ${await roomToken("kitchen", { identity: "bob" })}` };

  const response = await fetch(`${server.url}/participant/ann`, { method: "DELETE", headers });

  expect([response.status, await response.json()]).toEqual([403, { error: "The token is for another participant" }]);
  expect(await databaseText()).toContain("ann");
});
