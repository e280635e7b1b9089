import { RoomEvent } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { pingsOnly, reply, text } from "../../src/model-server/step.ts";
import type { Participant } from "../support/participant.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { jobProcesses } from "./support/run-main.ts";
import { type RunOptions, WorkerParts } from "./support/worker-parts.ts";

/**
 * How many Configurations the participant has received: one from each worker, and one in response to each of its own.
 */
const configurations = (user: Participant) => user.all("configuration").length;

/** A worker, and a participant in a room it serves. */
async function startTalk(parts: WorkerParts, options: RunOptions = {}) {
  const worker = await parts.run(options);
  const user = await parts.join(`room-${createId()}`, "user");
  await user.until(() => configurations(user) === 1, "the first worker", 20_000);
  await user.configure({});
  return { worker, user };
}

function agentsOf(user: Participant): string[] {
  return [...user.room.remoteParticipants.values()].map(({ identity }) => identity);
}

/** The durations, in ms, for which the room was without an agent. The array grows with each such period. */
function timesAlone({ room }: Participant): number[] {
  const times: number[] = [];
  let since: number | undefined;
  room.on(RoomEvent.ParticipantDisconnected, () => {
    if (room.remoteParticipants.size === 0) since ??= performance.now();
  });
  room.on(RoomEvent.ParticipantConnected, () => {
    if (since !== undefined) times.push(performance.now() - since);
    since = undefined;
  });
  return times;
}

test("when a worker's machine dies, another worker takes over its sessions", async () => {
  await using parts = await WorkerParts.start();
  const { worker: first, user } = await startTalk(parts);
  parts.model.script([reply([text("Hello.")]), reply([text("Still here.")])]);
  expect(await user.answerTo(await user.say("Hi"))).toBe("Hello.");
  await parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/other` } });
  const seen = configurations(user);

  for (const pid of [...jobProcesses(first.pid), first.pid]) process.kill(pid, "SIGKILL");
  await user.until(() => configurations(user) > seen, "another worker", 30_000);
  await user.configure({});

  expect(await user.answerTo(await user.say("Are you there?"))).toBe("Still here.");
  expect(parts.model.rejections).toEqual([]);
}, 90_000);

test("a worker that receives SIGTERM hands its sessions over at a pause, without an error or a lost message", async () => {
  await using parts = await WorkerParts.start();
  const { worker: first, user } = await startTalk(parts, {
    env: { DRAIN_SECONDS: "20", PARLEY_DATA_DIR: `${parts.folder}/draining` },
  });
  parts.model.script([reply([text("One. And so on, and so on.")], { slow: 100, chunking: 4 })]);
  const running = await user.say("First");
  await user.next("start_answer");
  await parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/next` } });
  const seen = configurations(user);
  const alone = timesAlone(user);

  first.kill("SIGTERM");
  expect(await user.answerTo(running)).toBe("One. And so on, and so on.");
  const asked: string[] = [];
  while (configurations(user) === seen || asked.length < 5) {
    parts.model.script([reply([text(`Answer ${asked.length}.`)])]);
    asked.push(await user.say(`Question ${asked.length}`));
    expect(await user.answerTo(asked.at(-1) ?? "")).toBe(`Answer ${asked.length - 1}.`);
  }
  const { code } = await first.ended;

  expect(code).toBe(0);
  expect(user.all("error_message")).toEqual([]);
  expect(parts.model.rejections).toEqual([]);
  await expect.poll(() => agentsOf(user), { timeout: 5_000 }).toHaveLength(1);
  expect(Math.max(0, ...alone)).toBeLessThan(1_500);
}, 90_000);

test("a turn that does not end within DRAIN_SECONDS is resumed by the next worker", async () => {
  await using parts = await WorkerParts.start();
  const { worker: first, user } = await startTalk(parts, {
    env: { DRAIN_SECONDS: "3", PARLEY_DATA_DIR: `${parts.folder}/draining` },
  });
  parts.model.script([reply([text("It takes long.")], { fault: pingsOnly(3) }), reply([text("Here it is.")])]);
  const question = await user.say("Go on");
  await user.next("start_answer");
  await parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/next` } });

  first.kill("SIGTERM");

  expect(await user.answerTo(question, 30_000)).toContain("Here it is.");
  expect(user.all("error_message")).toEqual([]);
  expect((await first.ended).code).toBe(0);
  expect(parts.model.rejections).toEqual([]);
}, 90_000);

test("when only a worker's main process dies, a turn that does not end soon is resumed by the next worker", async () => {
  await using parts = await WorkerParts.start();
  const { worker: first, user } = await startTalk(parts);
  parts.model.script([reply([text("It takes long.")], { fault: pingsOnly(3) }), reply([text("Here it is.")])]);
  const question = await user.say("Go on");
  await user.next("start_answer");
  await parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/next` } });

  first.kill("SIGKILL");

  expect(await user.answerTo(question, 30_000)).toContain("Here it is.");
  expect(user.all("error_message")).toEqual([]);
  expect(parts.model.rejections).toEqual([]);
}, 90_000);

test("a worker that can no longer reach LiveKit loses its sessions to one that can, and says nothing when LiveKit is back", async () => {
  await using parts = await WorkerParts.start();
  await using proxy = await TcpProxy.start(parts.livekit.url);
  const { user } = await startTalk(parts, { livekitUrl: proxy.url });
  parts.model.script([reply([text("Hello.")]), reply([text("Still here.")])]);
  expect(await user.answerTo(await user.say("Hi"))).toBe("Hello.");
  await parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/other` } });
  const seen = configurations(user);

  proxy.isRefusing = true;
  proxy.cut();
  await user.until(() => configurations(user) > seen, "another worker", 20_000);
  await user.configure({});
  proxy.isRefusing = false;

  expect(await user.answerTo(await user.say("Are you there?"))).toBe("Still here.");
  await expect.poll(() => agentsOf(user), { timeout: 20_000 }).toHaveLength(1);
  expect(parts.model.rejections).toEqual([]);
}, 90_000);

test.each([
  ["refuses it", (proxy: TcpProxy) => ((proxy.isRefusing = true), proxy.cut())],
  ["is silent", (proxy: TcpProxy) => proxy.pause()],
])(
  "a worker for which PostgreSQL %s loses its sessions to one that can reach it, and takes no rooms",
  async (_, cutOff) => {
    await using parts = await WorkerParts.start();
    await using proxy = await TcpProxy.start(parts.database.url);
    parts.model.script(() => reply([text("Here.")]));
    const PGPASSWORD = decodeURIComponent(new URL(parts.database.url).password);
    const env = { DATABASE_URL: proxy.url, PGPASSWORD, PARLEY_DATA_DIR: `${parts.folder}/cut` };
    const worker = await parts.run({ env });
    const users = await Promise.all(Array.from({ length: 4 }, () => parts.join(`room-${createId()}`, "user")));
    for (const user of users) {
      await user.until(() => configurations(user) > 0, "the first worker", 20_000);
      await user.configure({});
      await user.answerTo(await user.say("Hi"));
    }
    await parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/other` } });
    const owners = () => parts.database.sql<{ owner: string }[]>`
    select lease_owner as owner from sessions where lease_expires_at > now() order by room`;
    const before = new Set((await owners()).map(({ owner }) => owner));

    cutOff(proxy);

    const areElsewhere = async () => (await owners()).filter(({ owner }) => !before.has(owner)).length;
    await expect.poll(areElsewhere, { timeout: 20_000, interval: 200 }).toBe(4);
    const late = await parts.join(`room-${createId()}`, "user");
    await late.until(() => configurations(late) > 0, "the other worker", 10_000);
    for (const user of [...users, late]) {
      await user.configure({});
      expect(await user.answerTo(await user.say("Are you there?"))).toBe("Here.");
    }
    worker.kill("SIGTERM");
    expect(parts.model.rejections).toEqual([]);
  },
  90_000,
);

test("another worker takes over a frozen worker's sessions, and rooms created meanwhile, within 20 s", async () => {
  await using parts = await WorkerParts.start();
  parts.model.script(() => reply([text("Here.")]));
  const frozen = await parts.run();
  const join = () => Promise.all(Array.from({ length: 5 }, () => parts.join(`room-${createId()}`, "user")));
  const users = await join();
  for (const user of users) {
    await user.until(() => configurations(user) === 1, "the first worker", 20_000);
    await user.configure({});
    await user.answerTo(await user.say("Hi"));
  }
  await parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/other` } });
  const seen = users.map(configurations);

  // LiveKit still offers half of the new rooms to the frozen worker, and it offers each room only once.
  const pids = [frozen.pid, ...jobProcesses(frozen.pid)];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  try {
    const late = await join();
    const areServed = () => [
      ...users.map((user, index) => configurations(user) > (seen[index] ?? 0)),
      ...late.map((user) => configurations(user) > 0),
    ];
    await expect.poll(areServed, { timeout: 20_000 }).toEqual([...users, ...late].map(() => true));
    users.push(...late);
  } finally {
    for (const pid of pids) process.kill(pid, "SIGCONT");
  }

  const agents = (user: Participant) => user.room.remoteParticipants.size;
  for (const user of users) {
    await user.configure({});
    expect(await user.answerTo(await user.say("Are you there?"), 20_000)).toBe("Here.");
    await expect.poll(() => agents(user), { timeout: 20_000 }).toBe(1);
  }
  expect(parts.model.rejections).toEqual([]);
}, 120_000);

test("a room for which all workers are full is told so, and gets an agent when a place is free", async () => {
  await using parts = await WorkerParts.start();
  await parts.run({ env: { MAX_SESSIONS: "1" } });
  const served = await parts.join(`room-${createId()}`, "served");
  await served.until(() => configurations(served) === 1, "the worker", 20_000);
  const waiting = await parts.join(`room-${createId()}`, "waiting");

  const state = () => waiting.room.localParticipant?.attributes["parley.waiting"] ?? "";
  await expect.poll(state, { timeout: 25_000 }).toBe("workers_full");
  expect(configurations(waiting)).toBe(0);
  await served.leave();

  await waiting.until(() => configurations(waiting) === 1, "the worker", 40_000);
  await expect.poll(state, { timeout: 5_000 }).toBe("");
}, 90_000);

test("a waiting room gets the place that becomes free, before rooms created at that moment", async () => {
  await using parts = await WorkerParts.start();
  await parts.run({ env: { MAX_SESSIONS: "1" } });
  const full = `room-${createId()}`;
  const served = await parts.join(full, "served");
  await served.until(() => configurations(served) === 1, "the worker", 20_000);
  const waiting = await parts.join(`room-${createId()}`, "waiting");
  const state = () => waiting.room.localParticipant?.attributes["parley.waiting"] ?? "";
  await expect.poll(state, { timeout: 25_000 }).toBe("workers_full");

  await parts.rooms.deleteRoom(full);
  const late: Participant[] = [];
  await expect
    .poll(
      async () => {
        late.push(await parts.join(`room-${createId()}`, "late"));
        return configurations(waiting);
      },
      { timeout: 40_000, interval: 1_000 },
    )
    .toBe(1);

  expect(late.length).toBeGreaterThan(1);
  expect(late.map(configurations)).toEqual(late.map(() => 0));
}, 90_000);
