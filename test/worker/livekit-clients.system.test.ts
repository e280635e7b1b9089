import { RoomEvent } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { ON_BEHALF_ATTRIBUTE } from "../../src/protocol/attributes.ts";
import { pingsOnly, reply, text } from "../../src/model-server/step.ts";
import { LiveKitClients } from "../support/clients/livekit-clients.ts";
import type { Participant } from "../support/participant.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { jobProcesses, type RunningMain } from "./support/run-main.ts";
import { type RunOptions, WorkerParts } from "./support/worker-parts.ts";

// However an agent ends, LiveKit's own clients continue with the next one, and soon show a state.

/**
 * How many Configurations the participant has received: one from each worker, and one in response to each of its own.
 */
const configurations = (user: Participant) => user.all("configuration").length;
const agentsOf = ({ room }: Participant) => [...room.remoteParticipants.keys()];

/** A worker, and a participant in a room it serves, which LiveKit's simulated clients follow as well. */
async function startTalk(parts: WorkerParts, options: RunOptions = {}) {
  const worker = await parts.run(options);
  const user = await parts.join(`room-${createId()}`, "user");
  await user.until(() => configurations(user) === 1, "the first worker", 20_000);
  await user.configure({});
  const clients = LiveKitClients.watch(user.room);
  await expect.poll(() => clients.areConnected, { timeout: 5_000 }).toBe(true);
  return { worker, user, clients, former: agentsOf(user)[0] ?? "" };
}

function nextWorker(parts: WorkerParts): Promise<RunningMain> {
  return parts.run({ env: { PARLEY_DATA_DIR: `${parts.folder}/next` } });
}

/** Waits until the next agent is the only one in the room, and asks it a question. */
async function untilSucceeded(parts: WorkerParts, { user, former }: Awaited<ReturnType<typeof startTalk>>) {
  const isSucceeded = () => agentsOf(user).length === 1 && !agentsOf(user).includes(former);
  await expect.poll(isSucceeded, { timeout: 40_000 }).toBe(true);
  parts.model.script([reply([text("Still here.")])]);
  await user.configure({});
  expect(await user.answerTo(await user.say("Are you there?"), 20_000)).toBe("Still here.");
}

/** Whether the former agent has left, or is marked as acting on another agent's behalf. */
function isReplaced({ user, former }: Awaited<ReturnType<typeof startTalk>>): boolean {
  const agent = user.room.remoteParticipants.get(former);
  return agent === undefined || ON_BEHALF_ATTRIBUTE in agent.attributes;
}

/**
 * What LiveKit's clients have noticed: nothing, if they all follow an agent and were never without a state for long.
 */
function noticedBy({ ends, areConnected, longestSilence }: LiveKitClients): string[] {
  const isLate = longestSilence >= 5_000;
  return [...ends, ...(areConnected ? [] : ["no agent"]), ...(isLate ? [`${longestSilence} ms without a state`] : [])];
}

test.each([
  ["the process of its session is killed", (worker: RunningMain) => jobProcesses(worker.pid)],
  ["its worker's machine dies", (worker: RunningMain) => [...jobProcesses(worker.pid), worker.pid]],
  ["only the main process of its worker is killed", (worker: RunningMain) => [worker.pid]],
])(
  "LiveKit's clients do not notice that %s",
  async (_, pidsOf) => {
    await using parts = await WorkerParts.start();
    const talk = await startTalk(parts);
    await nextWorker(parts);

    for (const pid of pidsOf(talk.worker)) process.kill(pid, "SIGKILL");
    await untilSucceeded(parts, talk);

    expect(noticedBy(talk.clients)).toEqual([]);
  },
  90_000,
);

test("they do not notice that a worker receives SIGTERM and hands its sessions over: there is no gap", async () => {
  await using parts = await WorkerParts.start();
  const talk = await startTalk(parts);
  await nextWorker(parts);
  const { room } = talk.user;
  let isAlone = false;
  room.on(RoomEvent.ParticipantDisconnected, () => (isAlone ||= room.remoteParticipants.size === 0));

  talk.worker.kill("SIGTERM");
  expect((await talk.worker.ended).code).toBe(0);
  await untilSucceeded(parts, talk);

  expect(isAlone).toBe(false);
  expect(noticedBy(talk.clients)).toEqual([]);
}, 90_000);

test("they do not notice that the only worker receives SIGTERM and stops immediately, if another one soon starts", async () => {
  await using parts = await WorkerParts.start();
  const talk = await startTalk(parts);

  const toldAt = performance.now();
  talk.worker.kill("SIGTERM");
  await talk.worker.ended;
  expect(performance.now() - toldAt).toBeLessThan(5_000);
  await nextWorker(parts);
  await untilSucceeded(parts, talk);

  expect(noticedBy(talk.clients)).toEqual([]);
}, 90_000);

test("they do not notice that a turn outlasts DRAIN_SECONDS", async () => {
  await using parts = await WorkerParts.start();
  const talk = await startTalk(parts, { env: { DRAIN_SECONDS: "2" } });
  parts.model.script([reply([text("It takes long.")], { fault: pingsOnly(3) }), reply([text("Here it is.")])]);
  const question = await talk.user.say("Go on");
  await talk.user.next("start_answer");
  await nextWorker(parts);

  talk.worker.kill("SIGTERM");
  expect(await talk.user.answerTo(question, 30_000)).toContain("Here it is.");
  await untilSucceeded(parts, talk);

  expect(noticedBy(talk.clients)).toEqual([]);
}, 90_000);

test.each(["LiveKit", "PostgreSQL"])(
  "they do not notice that a worker loses its lease because it cannot reach %s",
  async (lost) => {
    await using parts = await WorkerParts.start();
    const { url } = lost === "LiveKit" ? parts.livekit : parts.database;
    await using proxy = await TcpProxy.start(url);
    const PGPASSWORD = decodeURIComponent(new URL(parts.database.url).password);
    const talk = await startTalk(
      parts,
      lost === "LiveKit" ? { livekitUrl: proxy.url } : { env: { DATABASE_URL: proxy.url, PGPASSWORD } },
    );
    await nextWorker(parts);

    proxy.isRefusing = true;
    proxy.cut();
    await talk.user.until(() => configurations(talk.user) > 2, "another worker", 30_000);
    // Waits until the agent is replaced. If it reconnected sooner, LiveKit would make it join again, and clients would
    // see it leave before it was replaced.
    await expect.poll(() => isReplaced(talk), { timeout: 10_000 }).toBe(true);
    proxy.isRefusing = false;
    await untilSucceeded(parts, talk);

    expect(noticedBy(talk.clients)).toEqual([]);
  },
  90_000,
);

test("they do not notice that a worker freezes, and find one agent when it wakes up", async () => {
  await using parts = await WorkerParts.start();
  const talk = await startTalk(parts);
  await nextWorker(parts);

  const pids = [talk.worker.pid, ...jobProcesses(talk.worker.pid)];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  try {
    await talk.user.until(() => configurations(talk.user) > 2, "another worker", 30_000);
  } finally {
    for (const pid of pids) process.kill(pid, "SIGCONT");
  }
  await untilSucceeded(parts, talk);

  expect(noticedBy(talk.clients)).toEqual([]);
}, 90_000);
