import { readFile, rm } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Room } from "@livekit/rtc-node";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { connect as connectSdk } from "../../src/client/index.ts";
import type { Sql } from "../../src/store/database/pool.ts";
import { replyToPermission } from "../../src/store/permissions/reply-to-permission.ts";
import { createId } from "../../src/lib/id.ts";
import type { ModelServer } from "../../src/model-server/model-server.ts";
import { noHeaders, reply, text, toolUse, type Step } from "../../src/model-server/step.ts";
import { createToken, Participant } from "../support/participant.ts";
import { announced } from "../support/client-tool.ts";
import { forFile } from "../support/lifetimes.ts";
import type { OwnLivekit } from "../support/servers/own-livekit.ts";
import { jobProcesses, type RunningMain } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const scan = announced("scan");
const THREE_TOOLS = [toolUse("look"), toolUse("order", { hangMs: 0 }), toolUse("scan")];

const parts = forFile(() => WorkerParts.start());
let livekit: OwnLivekit;
let model: ModelServer;
let main: RunningMain;
let sql: Sql;
let folder: string;
let room: string;

beforeAll(async () => {
  ({ livekit, model, folder } = parts);
  ({ sql } = parts.database);
  const env = { PARLEY_CONFIG: "test/fixtures/restart/parley.config.ts", TEST_RUNS_FILE: join(folder, "runs") };
  main = await parts.run({ env });
});

beforeEach(async () => {
  room = `room-${createId()}`;
  await rm(join(folder, "runs"), { force: true });
});

let user: Participant;

afterEach(async () => {
  await user.leave();
});

/** A client that announces its tool again to each new worker, as our SDK does. */
async function joinRoom(): Promise<void> {
  user = await Participant.join(room, "user", { server: livekit });
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration", 20_000);
  await user.configure({ tools: [scan], features: ["permissions"] });
}

async function backWithTools(workersSeen: number): Promise<void> {
  await user.until(() => user.all("configuration").length > workersSeen, "a new worker", 20_000);
  await user.configure({ tools: [scan], features: ["permissions"] });
}

/** Kills every job process of our worker, as a crash would. */
function killJobs(): void {
  for (const pid of jobProcesses(main.pid)) process.kill(pid, "SIGKILL");
}

async function runs(): Promise<string[]> {
  const lines = await readFile(join(folder, "runs"), "utf8").catch(() => "");
  return lines.split("\n").filter(Boolean).toSorted();
}

/** Answers the worker's requests for `scan`, each request once, whichever worker sends it. */
function answerScans(): string[] {
  const answered: string[] = [];
  const timer = setInterval(() => {
    for (const request of user.all("tool_use_request")) {
      if (request.toolName !== "scan" || answered.includes(request.id)) continue;
      answered.push(request.id);
      void user.answer(request.id, { success: true, result: { pages: 1 } });
    }
  }, 20);
  user.room.once("disconnected", () => clearInterval(timer));
  return answered;
}

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
};

async function turnBlocks(): Promise<string[]> {
  const running = () =>
    sql`select 1 from turns join sessions on sessions.id = session_id where room = ${room} and state = 'running'`;
  while ((await running()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const rows = await sql<{ block_type: string; sequence: number; content: { is_error?: boolean } | null }[]>`
    select block_type, sequence, turn_blocks.content from turn_blocks
    join turns on turns.id = turn_id join sessions on sessions.id = session_id where room = ${room} order by sequence`;
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index));
  return rows.map(({ block_type, content }) => (content?.is_error ? `${block_type} (error)` : block_type));
}

/**
 * Waits until these rows are stored. A row is stored after what it records has happened, so a crash that comes too
 * early would leave no row.
 */
async function untilStored(rows: () => PromiseLike<readonly unknown[]>): Promise<void> {
  while ((await rows()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Replies with the steps in order. After a crash, the model is called again and replies with the next step. */
function scriptOf(...steps: Step[]): void {
  const left = [...steps];
  model.script(() => left.shift() ?? reply([text("Unplanned.")]));
}

test("killed before the first block: the next worker answers the turn", async () => {
  await joinRoom();
  const seen = user.all("configuration").length;
  const asked = model.requests.length;
  scriptOf(noHeaders(), reply([text("Here I am.")]));
  const id = await user.say("Hello?");
  await until(() => model.requests.length > asked);
  await untilStored(() => sql`select 1 from turns where parent_message_id = ${id}`);
  killJobs();
  await backWithTools(seen);
  expect(await user.answerTo(id, 20_000)).toBe("Here I am.");
  expect(await turnBlocks()).toEqual(["text"]);
});

/** Kills the worker while it stores a tool use and its call, so that neither is stored. @returns the message's id */
async function killWhileStoring(meanwhile: (messageId: string) => Promise<unknown> = async () => {}): Promise<string> {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = sql.begin(async (transaction) => {
    await transaction`lock table tool_calls in exclusive mode`;
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const id = await user.say("Go");
  const waiting = () => sql`
    select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await untilStored(waiting);
  killJobs();
  await meanwhile(id);
  // Ends the connection of the dead client: while its insert waits for the lock, the database does not notice that it
  // is dead.
  for (const { pid } of await waiting()) await sql`select pg_terminate_backend(${Number(pid)})`;
  released.resolve();
  await holding;
  return id;
}

test("killed while a tool use is stored: nothing has run, and the model is called again", async () => {
  await joinRoom();
  const seen = user.all("configuration").length;
  scriptOf(reply([toolUse("order", { hangMs: 0 })]), reply([text("Shall I?")]));

  const id = await killWhileStoring();

  await backWithTools(seen);
  expect(await user.answerTo(id, 20_000)).toBe("Shall I?");
  expect(await runs()).toEqual([]);
  expect(await turnBlocks()).toEqual(["text"]);
  expect(model.rejections).toEqual([]);
});

test("killed between a tool use and its run, as an older worker stores them: a tool with effects is not run, and the model is told so", async () => {
  await joinRoom();
  const seen = user.all("configuration").length;
  scriptOf(reply([toolUse("order", { hangMs: 0 })]), reply([text("Shall I?")]));
  const use = { tool_use_id: "toolu_1", tool_name: "order", input: { hangMs: 0 } };

  const id = await killWhileStoring(
    (messageId) => sql`
      insert into turn_blocks (turn_id, sequence, block_type, content)
      select id, 0, 'tool_use', ${sql.json(use)} from turns where parent_message_id = ${messageId}`,
  );

  await backWithTools(seen);
  expect(await user.answerTo(id, 20_000)).toBe("Shall I?");
  expect(await runs()).toEqual([]);
  expect(await turnBlocks()).toEqual(["tool_use", "tool_result (error)", "text"]);
  expect(model.rejections).toEqual([]);
});

test("killed while a client's call waits: the client is asked again under the same id, and nothing runs twice", async () => {
  await joinRoom();
  scriptOf(reply(THREE_TOOLS), reply([text("All done.")]));
  const id = await user.say("Go");
  const first = await user.next("tool_use_request", (body) => body.toolName === "scan");
  await untilStored(
    () => sql`
      select turn_id from tool_calls join turns on turns.id = turn_id
      where parent_message_id = ${id} and tool_calls.state = 'success' group by turn_id having count(*) = 2`,
  );
  killJobs();
  user.received.length = 0;
  const answered = answerScans();
  await backWithTools(0);
  await user.next("assistant_sentence", (body) => body.text === "All done." && body.isFinal, 20_000);
  expect(answered).toEqual([first.id]);
  expect(await runs()).toEqual(["look", "order"]);
  const three = (blockType: string) => Array.from({ length: 3 }, () => blockType);
  expect(await turnBlocks()).toEqual([...three("tool_use"), ...three("tool_result"), "text"]);
  expect(model.rejections).toEqual([]);
});

test("killed while a client's call waits: a result that the client has by then reaches the next worker, once", async () => {
  user = await Participant.join(room, "watcher", { server: livekit });
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration", 20_000);
  await user.configure({ tools: [] });
  const device = new Room();
  const token = await createToken(room, "device", { server: livekit });
  await device.connect(livekit.url, token, { autoSubscribe: false, dynacast: false });
  const parley = await connectSdk(device);
  const held = Promise.withResolvers<unknown>();
  let started = 0;
  parley.registerTool({
    name: "scan",
    description: "S.",
    input: { type: "object" },
    scope: "room",
    run: () => {
      started++;
      return held.promise;
    },
  });
  await parley.whenConnected(5_000);
  scriptOf(reply([toolUse("scan")]), reply([text("All done.")]));
  await user.say("Go");
  await until(() => started === 1);

  killJobs();
  await until(() => !parley.isConnected);
  held.resolve({ pages: 1 });
  await until(() => parley.runningToolCount === 0);

  await user.next("assistant_sentence", (body) => body.text === "All done." && body.isFinal, 20_000);
  expect(started).toBe(1);
  // The client may send the result on its own, and again when the next worker asks. The second result changes nothing.
  expect(await turnBlocks()).toEqual(["tool_use", "tool_result", "text"]);
  expect(
    await sql`
      select calls.state, calls.result from tool_calls calls
      join turns on turns.id = turn_id join sessions on sessions.id = session_id where room = ${room}`,
  ).toEqual([{ state: "success", result: { pages: 1 } }]);
  await parley.close();
  await device.disconnect();
});

test.each([
  ["approve", ["sign"], "Signed.", "tool_result"],
  ["reject", [], "Not signed.", "tool_result (error)"],
] as const)(
  "killed while a permission waits: it is requested again with the time that is left, and %s counts",
  async (...row) => {
    const [response, expected, said, result] = row;
    await joinRoom();
    scriptOf(reply([toolUse("sign", { paper: "lease" })]), reply([text(said)]));
    await user.say("Sign it");
    const asked = await user.next("permission_request");
    const leftMs = ({ metadataJson }: { metadataJson: string }) =>
      (JSON.parse(metadataJson) as { leftMs: number }).leftMs;
    killJobs();
    user.received.length = 0;
    await backWithTools(0);
    const again = await user.next("permission_request", () => true, 20_000);

    expect({ ...again, metadataJson: "" }).toEqual({ ...asked, metadataJson: "" });
    expect(leftMs(again)).toBeLessThan(leftMs(asked));
    expect(leftMs(again)).toBeGreaterThan(60_000);
    expect(await runs()).toEqual([]);
    await user.send({ type: "permission_response", body: { permissionId: again.id, response } });
    await user.next("assistant_sentence", (body) => body.text === said && body.isFinal, 20_000);
    expect(await runs()).toEqual(expected);
    expect(await turnBlocks()).toEqual(["tool_use", result, "text"]);
    expect(model.rejections).toEqual([]);
  },
);

test("killed while a permission waits: an answer that arrives before the next worker counts", async () => {
  await joinRoom();
  scriptOf(reply([toolUse("sign", { paper: "lease" })]), reply([text("Signed.")]));
  await user.say("Sign it");
  const { id: permissionId, sessionId } = await user.next("permission_request");
  killJobs();
  user.received.length = 0;
  const decision = { kind: "approve", isAlways: false } as const;
  await replyToPermission(sql, { permissionId, sessionId, by: "user", via: "http", decision });
  await user.next("assistant_sentence", (body) => body.text === "Signed." && body.isFinal, 20_000);
  expect(await runs()).toEqual(["sign"]);
  expect(user.all("permission_request")).toEqual([]);
});

test("killed while a tool with effects was running: it is not run again, and the model is told that its outcome is unknown", async () => {
  await joinRoom();
  const seen = user.all("configuration").length;
  scriptOf(reply([toolUse("look"), toolUse("order", { hangMs: 60_000 })]), reply([text("I am not sure.")]));
  const id = await user.say("Go");
  await untilStored(
    () => sql`
      select 1 from tool_calls join turns on turns.id = turn_id
      where parent_message_id = ${id} and tool_calls.name = 'look' and tool_calls.state = 'success'`,
  );
  await until(() => readFileSyncSafe(join(folder, "runs")).includes("order"));
  killJobs();
  await backWithTools(seen);
  expect(await user.answerTo(id, 20_000)).toBe("I am not sure.");
  expect(await runs()).toEqual(["look", "order"]);
  expect(await turnBlocks()).toEqual(["tool_use", "tool_use", "tool_result", "tool_result (error)", "text"]);
  expect(JSON.stringify(model.requests.at(-1))).toContain(
    "Outcome unknown: the worker stopped while the tool was running; the tool may have had effects.",
  );
  expect(model.rejections).toEqual([]);
});

test("killed while a background call runs, long after its turn: the next worker runs it again and reports the result once", async () => {
  await joinRoom();
  const seen = user.all("configuration").length;
  scriptOf(reply([toolUse("bake")]), reply([text("It is in the oven.")]), reply([text("It is baked.")]));
  const id = await user.say("Bake");
  expect(await user.answerTo(id)).toBe("It is in the oven.");
  await untilStored(() => sql`select 1 from turns where parent_message_id = ${id} and state = 'completed'`);
  killJobs();
  await backWithTools(seen);
  await user.next("assistant_sentence", (body) => body.text === "It is baked." && body.isFinal, 20_000);
  expect(await runs()).toEqual(["bake", "bake"]);
  expect(await user.answerTo(await user.say("Still there?"), 20_000)).toBe("Unplanned.");
  const results = sql`
    select 1 from turn_blocks join turns on turns.id = turn_id join sessions on sessions.id = session_id
    where room = ${room} and turn_blocks.content ->> 'content' = 'one cake'`;
  expect(await results).toHaveLength(1);
  expect(model.rejections).toEqual([]);
});

test("killed between the results and the next model call: the results are used", async () => {
  await joinRoom();
  const seen = user.all("configuration").length;
  const asked = model.requests.length;
  answerScans();
  scriptOf(reply(THREE_TOOLS), noHeaders(), reply([text("All done.")]));
  const id = await user.say("Go");
  await until(() => model.requests.length > asked + 1);
  killJobs();
  await backWithTools(seen);
  expect(await user.answerTo(id, 20_000)).toBe("All done.");
  expect(await runs()).toEqual(["look", "order"]);
  expect(model.rejections).toEqual([]);
});

test("killed while the last text streams: the answer is generated again, and the record contains it once", async () => {
  await joinRoom();
  const seen = user.all("configuration").length;
  answerScans();
  scriptOf(
    reply(THREE_TOOLS),
    reply([text("One two. Three four. Five six. Seven.")], { slow: 150, chunking: 4 }),
    reply([text("Whole.")]),
  );
  await user.say("Go");
  await user.next("assistant_sentence", (body) => body.text === "One two.");
  killJobs();
  await backWithTools(seen);
  await user.next("assistant_sentence", (body) => body.isFinal, 20_000);
  expect(await runs()).toEqual(["look", "order"]);
  expect((await turnBlocks()).slice(-2)).toEqual(["tool_result", "text"]);
  expect(await user.answerTo(await user.say("Still there?"), 20_000)).toBe("Unplanned.");
  expect(model.rejections).toEqual([]);
});

function readFileSyncSafe(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
