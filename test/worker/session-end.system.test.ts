import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { WebhookReceiver } from "../support/servers/webhook-receiver.ts";
import { jobProcesses, type RunningMain } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const PARLEY_CONFIG = "test/fixtures/hooks/parley.config.ts";

/** Workers that send webhooks, and whose hooks record their calls. */
async function startWorld(cleanup: AsyncDisposableStack) {
  const receiver = cleanup.use(await WebhookReceiver.start());
  const parts = cleanup.use(await WorkerParts.start());
  const file = `${parts.folder}/hooks`;
  let workers = 0;
  const runWorker = (env: NodeJS.ProcessEnv = {}) =>
    parts.run({
      env: {
        PARLEY_CONFIG,
        PARLEY_DATA_DIR: `${parts.folder}/worker-${++workers}`,
        TEST_HOOKS_FILE: file,
        WEBHOOK_URL: receiver.url,
        WEBHOOK_SECRET: receiver.secret,
        ...env,
      },
    });
  const hooks = () => {
    try {
      const lines = readFileSync(file, "utf8").trim().split("\n");
      return lines.map((line) => JSON.parse(line) as { hook: string; reason?: string });
    } catch {
      return [];
    }
  };
  const names = () => hooks().map(({ hook }) => hook);
  /** Lets a participant say hello in a new room. */
  const talk = async () => {
    const room = `room-${createId()}`;
    const user = await parts.join(room, "ana");
    await user.until(() => user.all("configuration").length > 0, "the worker", 20_000);
    await user.configure({});
    parts.model.script([reply([text("Hello.")])]);
    await user.answerTo(await user.say("Hi"), 20_000);
    await expect.poll(names, { timeout: 10_000 }).toEqual(["onSessionStart", "onTurnEnd"]);
    return { room, user };
  };
  const sent = () => receiver.received.map(({ id }) => id);
  return { receiver, parts, runWorker, hooks, names, talk, sent };
}

function killAll({ pid }: RunningMain): void {
  for (const each of [...jobProcesses(pid), pid]) process.kill(each, "SIGKILL");
}

test("a session's end is reported by hook and webhook, and a worker that dies while sending leaves that to another", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { receiver, parts, runWorker, names, talk, sent } = await startWorld(cleanup);
  const first = await runWorker();
  const { room } = await talk();
  receiver.answers = ["hang"];

  await parts.rooms.deleteRoom(room);
  await expect.poll(sent, { timeout: 10_000 }).toHaveLength(1);
  killAll(first);
  await runWorker();

  await expect.poll(sent, { timeout: 30_000 }).toHaveLength(2);
  expect(new Set(sent()).size).toBe(1);
  const state = async () => (await parts.database.sql<{ state: string }[]>`select state from webhooks`)[0]?.state;
  await expect.poll(state, { timeout: 5_000 }).toBe("delivered");
  expect(names()).toEqual(["onSessionStart", "onTurnEnd", "onSessionEnd"]);
  expect(receiver.received[1]?.body.data).toMatchObject({
    room,
    reason: "room_deleted",
    participants: ["ana"],
    turns: [{ said: "Hi", answer: [{ type: "text", text: "Hello." }] }],
  });
}, 90_000);

test("a room that closes while its worker is dead ends once, whichever worker finds out", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { receiver, parts, runWorker, hooks, talk, sent } = await startWorld(cleanup);
  const first = await runWorker();
  const { room } = await talk();

  killAll(first);
  await parts.rooms.deleteRoom(room);
  await Promise.all([runWorker(), runWorker()]);
  await expect.poll(sent, { timeout: 40_000 }).toHaveLength(1);
  await sleep(4_000);

  expect(sent()).toHaveLength(1);
  expect(receiver.received[0]?.body.data).toMatchObject({ room, reason: "unknown", turns: [{ said: "Hi" }] });
  const ends = hooks().filter(({ hook }) => hook === "onSessionEnd");
  expect(ends).toMatchObject([{ room, reason: "unknown", turns: [{ said: "Hi" }] }]);
}, 120_000);

test("a worker that receives SIGTERM does not end the sessions that continue without it", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { parts, runWorker, names, talk, sent } = await startWorld(cleanup);
  const first = await runWorker({ SESSIONS_PER_PROCESS: "1" });
  const { room, user } = await talk();

  first.kill("SIGTERM");
  await first.exited;
  await runWorker({ SESSIONS_PER_PROCESS: "1" });
  await user.until(() => user.all("configuration").length > 1, "the next worker", 30_000);
  expect([names(), sent()]).toEqual([["onSessionStart", "onTurnEnd"], []]);
  await parts.rooms.deleteRoom(room);

  await expect.poll(sent, { timeout: 20_000 }).toHaveLength(1);
  await expect.poll(names).toEqual(["onSessionStart", "onTurnEnd", "onSessionEnd"]);
}, 120_000);
