import type { ChildProcess } from "node:child_process";
import { AgentServer, ServerOptions, telemetry } from "@livekit/agents";
import { afterEach, expect, inject, test } from "vitest";
import {
  isAgentsProcess,
  onRegistered,
  runningJobIds,
  setJobArguments,
  setLoopLimits,
  startAgentsLog,
} from "../../src/livekit/job-processes.ts";
import { processCommand } from "../../src/worker/process/running-processes.ts";
import { findFreePorts } from "../support/servers/free-ports.ts";
import { runNode, urlOf } from "./run-node.ts";

const AGENT = "test/fixtures/agents/idle-agent.ts";
const { execArgv } = process;
const before = { ...process.env };
const LIMITS = ["LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS", "LIVEKIT_AGENTS_LOOP_BLOCK_ERROR_MS"];

afterEach(() => {
  process.execArgv = execArgv;
  for (const name of LIMITS)
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
});

interface JobProcess {
  readonly createProcess: () => ChildProcess;
}

test("a job process gets this process's Node arguments, and is recognized by its command line", async () => {
  startAgentsLog("silent", () => {});
  const path = "node_modules/@livekit/agents/dist/ipc/job_proc_executor.js";
  const { JobProcExecutor } = (await import(urlOf(path))) as { JobProcExecutor: new (options: object) => JobProcess };
  process.execArgv = [];
  setJobArguments({ areHosts: false });
  setJobArguments({ areHosts: false });

  const child = new JobProcExecutor({ agent: AGENT }).createProcess();
  const command = processCommand(child.pid ?? 0);
  child.kill("SIGKILL");

  expect(process.execArgv).toEqual(["--import", urlOf("src/livekit/stdout-guard.ts"), "--max-semi-space-size=4"]);
  expect(command).toContain(process.execArgv.join(" "));
  expect([isAgentsProcess(command), isAgentsProcess(processCommand(process.pid))]).toEqual([true, false]);
});

test("a process for many sessions has more space for young objects, from its start on", () => {
  process.execArgv = [];
  setJobArguments({ areHosts: true });

  expect(process.execArgv.slice(2)).toEqual(["--min-semi-space-size=16", "--max-semi-space-size=16"]);
});

test("LiveKit reports a blocked event loop from the limit that we set, or that was set before", () => {
  const thresholds = () => telemetry.loopMonitor.LoopMonitorThresholds.fromEnv();
  for (const name of LIMITS) delete process.env[name];
  expect(thresholds()).toMatchObject({ warn: 100 });

  setLoopLimits("1000");
  setLoopLimits("2000");

  expect(thresholds()).toMatchObject({ warn: 1_000, error: 1_000 });
});

test("LiveKit reports when a worker is registered, which then has no jobs", async () => {
  startAgentsLog("silent", () => {});
  const [wsURL, apiKey, apiSecret] = [inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret")];
  const keys = { wsURL, apiKey, apiSecret, host: "127.0.0.1", port: 0 };
  // Nobody requests this agent name, so the server is assigned no room.
  const server = new AgentServer(
    new ServerOptions({ agent: AGENT, agentName: "nobody", numIdleProcesses: 0, ...keys }),
  );
  const registered = Promise.withResolvers<void>();
  onRegistered(server, registered.resolve);

  const running = server.run();
  await registered.promise;

  expect([...runningJobIds(server)]).toEqual([]);
  await server.close();
  await running;
});

test("each failed connection to LiveKit is one short line, without a stack", async () => {
  const port = await findFreePorts(1);
  const { stdout, stderr } = await runNode(`
    const { AgentServer, ServerOptions } = await import("@livekit/agents");
    const { startAgentsLog } = await import("${urlOf("src/livekit/job-processes.ts")}");
    (await import("${urlOf("src/livekit/no-inference-process.ts")}")).keepInferenceProcessOff();
    const write = (line) => {
      process.stderr.write(line);
      if (line.includes("attempt 2")) process.exit(0);
    };
    startAgentsLog("info", write);
    const keys = { wsURL: "ws://127.0.0.1:${port}", apiKey: "key", apiSecret: "secret", host: "127.0.0.1", port: 0 };
    const server = new ServerOptions({ agent: "${AGENT}", numIdleProcesses: 0, maxRetry: Number.MAX_SAFE_INTEGER, ...keys });
    await new AgentServer(server).run();
  `);

  // On a busy machine, LiveKit also reports a blocked event loop.
  const lines = stderr.split("\n").filter((line) => line.includes("failed to connect"));
  expect(stdout).toBe("");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      level: 40,
      why: expect.stringContaining("ECONNREFUSED"),
      msg: expect.stringMatching(/retrying in \d+ seconds, attempt 1$/u),
    },
    { level: 40, msg: expect.stringMatching(/, attempt 2$/u) },
  ]);
  expect(lines.join()).not.toMatch(/9007199254740991|stack/u);
});
