import { AgentServer, type RunningJobInfo, ServerOptions } from "@livekit/agents";
import { AgentDispatchClient, RoomServiceClient } from "livekit-server-sdk";
import { expect, inject, test, vi } from "vitest";
import { onRegistered, startAgentsLog } from "../../src/livekit/job-processes.ts";
import { type JobPool, type PooledJob, replaceJobPool } from "../../src/livekit/job-pool.ts";

/** A pool that runs nothing. It only records the calls that it receives. */
class RecordingPool implements JobPool {
  readonly calls: string[] = [];
  readonly processes: PooledJob[] = [];
  start = () => void this.calls.push("start");
  close = async () => void this.calls.push("close");

  launchJob = async (runningJob: RunningJobInfo) => {
    const room = runningJob.job.room?.name;
    const over = Promise.withResolvers<void>();
    const job: PooledJob = {
      runningJob,
      join: () => over.promise,
      close: async () => {
        this.calls.push(`end ${room}`);
        this.processes.splice(this.processes.indexOf(job), 1);
        over.resolve();
      },
    };
    this.processes.push(job);
    this.calls.push(`launch ${room}`);
  };
}

test("a LiveKit worker passes its jobs to our pool, terminates and drains them there, and closes it", async () => {
  startAgentsLog("silent", () => {});
  const [wsURL, apiKey, apiSecret] = [inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret")];
  const keys = { wsURL, apiKey, apiSecret, host: "127.0.0.1", port: 0 };
  const rooms = new RoomServiceClient(wsURL, apiKey, apiSecret);
  const dispatches = new AgentDispatchClient(wsURL, apiKey, apiSecret);
  const pool = new RecordingPool();
  const undo = await replaceJobPool(pool);
  const agent = "test/fixtures/agents/idle-agent.ts";
  // The server has its own agent name, so it is assigned only these two rooms.
  const server = new AgentServer(new ServerOptions({ agent, agentName: "pooled", ...keys }));
  const registered = Promise.withResolvers<void>();
  onRegistered(server, registered.resolve);
  const running = server.run();
  await registered.promise;

  const ids = await Promise.all(
    ["pool-a", "pool-b"].map(async (room) => {
      await rooms.createRoom({ name: room });
      return (await dispatches.createDispatch(room, "pooled")).id;
    }),
  );
  await vi.waitUntil(() => pool.processes.length === 2, { timeout: 10_000 });
  const active = server.activeJobs.map(({ job }) => job.room?.name ?? "");
  expect(active.toSorted()).toEqual(["pool-a", "pool-b"]);

  await dispatches.deleteDispatch(ids[0] ?? "", "pool-a");
  await vi.waitUntil(() => pool.calls.includes("end pool-a"), { timeout: 10_000 });
  const drained = server.drain();
  await pool.processes[0]?.close();
  await drained;
  await server.close();
  await running;
  undo?.();

  expect(pool.calls).toEqual([
    "start",
    expect.stringMatching(/^launch pool-/u),
    expect.stringMatching(/^launch pool-/u),
    "end pool-a",
    "end pool-b",
    "close",
  ]);
  await Promise.all(["pool-a", "pool-b"].map((room) => rooms.deleteRoom(room)));
});
