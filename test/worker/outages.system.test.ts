import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import type { Sql } from "../../src/store/database/pool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { announced } from "../support/client-tool.ts";
import type { Participant } from "../support/participant.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { jobProcesses } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const scan = announced("scan", { timeoutMs: 2_000 });
/** An answer that takes about 3 s. */
const LONG = reply([text("One two. Three four. Five six. Seven eight. Nine ten. The end.")], {
  slow: 120,
  chunking: 2,
});
const WHOLE = "One two. Three four. Five six. Seven eight. Nine ten. The end.";

/** A whole worker that reaches its own LiveKit through a proxy. */
async function startParts(cleanup: AsyncDisposableStack) {
  const parts = await WorkerParts.start();
  const proxy = await TcpProxy.start(parts.livekit.url);
  cleanup.use(proxy);
  cleanup.use(parts);
  const env = { PARLEY_CONFIG: "test/fixtures/restart/parley.config.ts" };
  const { pid: mainPid } = await parts.run({ env, livekitUrl: proxy.url.replace(/\/$/u, "") });
  const { livekit, model, database } = parts;
  const joinRoom = (room: string, identity: string) => parts.join(room, identity);
  return { livekit, model, sql: database.sql, proxy, mainPid, join: joinRoom };
}

/** Waits for an agent, and sends it a Configuration. */
async function greet(participant: Participant, lastSequenceSeen?: number): Promise<void> {
  await participant.until(() => participant.all("configuration").length > 0, "the worker's configuration", 40_000);
  await participant.configure({ tools: [scan], ...(lastSequenceSeen !== undefined && { lastSequenceSeen }) });
}

/** The last answer's text, with each sentence once, however often it was sent. */
function textsOf(participant: Participant): string {
  const sentences = participant.all("assistant_sentence").toSorted((a, b) => a.sequence - b.sequence);
  return [...new Set(sentences.map(({ text: words }) => words))].join(" ");
}

/** Waits until this many turns are stored as completed: turns are stored only after their words are sent. */
async function untilCompleted(sql: Sql, count: number): Promise<void> {
  const turns = () => sql<{ state: string }[]>`select state from turns`;
  while ((await turns()).some(({ state }) => state === "running") || (await turns()).length < count) await sleep(50);
  expect((await turns()).map(({ state }) => state)).toEqual(Array.from({ length: count }, () => "completed"));
}

const lastSeen = ({ received }: Participant) => Math.min(...received.map(({ stanzaId }) => stanzaId));

test.concurrent("how a turn and a room continue when LiveKit is down for a moment", { timeout: 120_000 }, async () => {
  await using cleanup = new AsyncDisposableStack();
  const { livekit, model, sql, proxy, mainPid, join: joinRoom } = await startParts(cleanup);

  // F16: the worker's own connection is lost, while its rooms stay open.
  model.script(() => LONG);
  const user = await joinRoom(`room-${createId()}`, "user");
  await greet(user);
  const first = await user.say("Go");
  await user.next("assistant_sentence");
  proxy.isRefusing = true;
  expect(proxy.cut((head) => head.includes("GET /agent"))).toBe(1);
  expect(await user.answerTo(first)).toBe(WHOLE);
  proxy.isRefusing = false;
  const other = await joinRoom(`room-${createId()}`, "other");
  await greet(other);
  expect(await other.answerTo(await other.say("Hello?"))).toBe(WHOLE);
  await other.leave();

  // F15: the SFU is killed and is back after 1 s.
  user.received.length = 0;
  const second = await user.say("Go on");
  await user.next("assistant_sentence");
  const seen = lastSeen(user);
  await livekit.kill();
  await sleep(1_000);
  await livekit.restart();
  await vi.waitUntil(() => user.room.remoteParticipants.size > 0, { timeout: 40_000 });
  await greet(user, seen);
  await user.answerTo(second, 20_000);
  expect(textsOf(user)).toBe(WHOLE);

  // F15 again, but the job dies while LiveKit is down, and a client creates the room before the worker is back.
  await user.leave();
  const talk = `room-${createId()}`;
  const third = await joinRoom(talk, "third");
  await greet(third);
  await livekit.kill();
  for (const pid of jobProcesses(mainPid)) process.kill(pid, "SIGKILL");
  await sleep(1_000);
  await livekit.restart();
  const fourth = await joinRoom(talk, "fourth");
  await greet(fourth);
  expect(await fourth.answerTo(await fourth.say("Anyone?"))).toBe(WHOLE);
  await untilCompleted(sql, 4);
});

test.concurrent(
  "F15: a call and its turn end while the SFU is down for 20 s, and then the room has an agent again",
  { timeout: 120_000 },
  async () => {
    await using cleanup = new AsyncDisposableStack();
    const { livekit, model, sql, join: joinRoom } = await startParts(cleanup);
    const talk = `room-${createId()}`;
    const user = await joinRoom(talk, "user");
    await greet(user);
    model.script([reply([toolUse("scan")]), reply([text("No scan. Sorry. That is it.")])]);
    await user.say("Go");
    await user.next("tool_use_request");
    await livekit.kill();
    const killedAt = performance.now();
    const running = () => sql`select 1 from turns where state = 'running'`;
    while ((await running()).length > 0) await sleep(50);
    // The call takes 2 s, plus the grace period of 1 s. The answer adds little, because its words do not wait until
    // earlier words are sent.
    expect(performance.now() - killedAt).toBeLessThan(10_000);
    expect(await sql`select state, error_code from tool_calls`).toMatchObject([
      { state: "error", error_code: "timeout" },
    ]);
    await sleep(20_000 - (performance.now() - killedAt));
    await livekit.restart();
    model.script([reply([text("Here I am.")])]);
    const late = await joinRoom(talk, "late");
    await greet(late);
    expect(await late.answerTo(await late.say("Anyone?"))).toBe("Here I am.");
    await untilCompleted(sql, 2);
  },
);
