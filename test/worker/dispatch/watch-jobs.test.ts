import { Room } from "@livekit/rtc-node";
import { AccessToken, RoomServiceClient } from "livekit-server-sdk";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { GONE_ATTRIBUTES } from "../../../src/protocol/attributes.ts";
import { findFreePorts } from "../../support/servers/free-ports.ts";
import { listChildren, processCommand } from "../../../src/worker/process/running-processes.ts";
import { runJobs, type Jobs } from "../../../src/worker/dispatch/run-jobs.ts";
import { loadConfig } from "../../../src/worker/settings/load-config.ts";
import type { LivekitService } from "../../../src/worker/services/livekit-server.ts";
import { tempDatabase, type TempDatabase } from "../../support/servers/temp-database.ts";
import { startOwnLivekit } from "../../support/servers/own-livekit.ts";

// A job process takes seconds to start on a busy machine.
vi.setConfig({ testTimeout: 40_000 });

let livekit: LivekitService;
let jobs: Jobs;
let database: TempDatabase;
let roomService: RoomServiceClient;
const open: Room[] = [];
/** Processes that were there before this file's tests: those of earlier tests may still be exiting. */
let before: readonly number[];

beforeAll(async () => {
  before = listChildren();
  livekit = await startOwnLivekit();
  roomService = new RoomServiceClient(livekit.url, livekit.apiKey, livekit.apiSecret);
  database = await tempDatabase();
  jobs = await startJobs();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((room) => room.disconnect()));
});
afterAll(async () => {
  await jobs.close();
  await livekit.close();
  await database.drop();
});

async function startJobs(): Promise<Jobs> {
  const env = { WORKER_PORT: String(await findFreePorts(1)), LOG_LEVEL: "silent" };
  const config = await loadConfig(env, join(import.meta.dirname, "../../.."));
  const agent = join(import.meta.dirname, "../../fixtures/agents/idle-agent.ts");
  const started = await runJobs({
    config,
    sql: database.sql,
    database: { isUnavailable: false },
    livekit,
    environment: process.env,
    agent,
    logger: pino({ enabled: false }),
    onFailed: () => {},
    onModelCall: () => {},
    onClosed: async () => {},
  });
  await started.registered;
  return started;
}

async function enter(room: string, identity: string): Promise<Room> {
  const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity });
  token.addGrant({ room, roomJoin: true });
  const participant = new Room();
  await participant.connect(livekit.url, await token.toJwt(), { autoSubscribe: true, dynacast: false });
  open.push(participant);
  return participant;
}

interface Agent {
  readonly identity: string;
  readonly pid: number;
}

/**
 * The room's agent, or its next agent after `former`. Waits until the agent has joined and its name contains its
 * process id.
 */
async function agentIn(room: string, former?: Agent): Promise<Agent> {
  let found: Agent | undefined;
  const look = async () => {
    const agents = (await roomService.listParticipants(room)).filter(({ identity }) => identity.startsWith("agent-"));
    const agent = agents.find(({ identity, name }) => name !== "" && identity !== former?.identity);
    if (agent) found = { identity: agent.identity, pid: Number(agent.name) };
    return found !== undefined;
  };
  await vi.waitUntil(look, { timeout: 15_000 });
  if (!found) throw new Error("unreachable");
  return found;
}

test("a text-only worker starts no inference process", () => {
  const started = listChildren().filter((pid) => !before.includes(pid));
  const commands = started.map(processCommand);

  expect(commands.filter((command) => command.includes("inference_proc"))).toEqual([]);
  expect(commands.some((command) => command.includes("host-main"))).toBe(true);
});

test("an agent whose process is killed gets a successor while somebody is in the room, and is marked as gone until then", async () => {
  await enter("killed", "alice");
  const first = await agentIn("killed");

  process.kill(first.pid, "SIGKILL");
  const second = await agentIn("killed", first);

  expect(second.pid).not.toBe(first.pid);
  const killed = await roomService.getParticipant("killed", first.identity);
  expect(killed.attributes).toMatchObject(GONE_ATTRIBUTES);
});

test("a room that existed before the worker gets an agent", async () => {
  await jobs.close();
  await enter("waiting", "bob");
  await vi.waitUntil(() => isOlderThan("waiting", 2_500), { timeout: 10_000 });

  jobs = await startJobs();

  expect((await agentIn("waiting")).identity).toMatch(/^agent-/);
});

test("closing leaves no job process", async () => {
  await enter("closing", "carol");
  await agentIn("closing");

  await jobs.close();

  expect(
    listChildren()
      .map(processCommand)
      .filter((command) => /_proc_lazy_main|host-main/u.test(command)),
  ).toEqual([]);
});

async function isOlderThan(name: string, ageMs: number): Promise<boolean> {
  const [room] = await roomService.listRooms([name]);
  return room !== undefined && Date.now() - Number(room.creationTime) * 1_000 > ageMs;
}
