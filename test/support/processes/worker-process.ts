import { Room } from "@livekit/rtc-node";
import { pino } from "pino";
import { createModel } from "../../../src/llm/stream-message.ts";
import { connect } from "../../../src/store/database/pool.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { toServerTool } from "../../../src/tool/server-tool.ts";
import { serveDefaultAgent } from "../../../src/worker/job/serve-agents.ts";
import { openJobSession } from "../../../src/worker/job/open-job-session.ts";
import { jobConfig } from "../job-config.ts";
import { openPermissionEvents } from "../permission-events.ts";

/** The options that a worker process is started with, as JSON. */
export interface WorkerProcessOptions {
  readonly roomName: string;
  readonly jobId: string;
  readonly token: string;
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  readonly databaseUrl: string;
  readonly modelUrl: string;
  readonly leaseMs: number;
}

/** A job in its own process, for a test to stop and continue. Its tool `act` prints `ran`. */
const options = JSON.parse(process.argv[2] ?? "") as WorkerProcessOptions;
const { roomName, jobId, token, livekit, databaseUrl, modelUrl, leaseMs } = options;
const room = new Room();
const act = defineTool({
  description: "Acts.",
  input: { type: "object" },
  run: () => {
    process.stdout.write("ran\n");
    return { done: true };
  },
});
const model = createModel({ apiKey: "test", baseUrl: modelUrl, idleTimeoutMs: 30_000, retryBudgetMs: 0 });
const settings = { name: "claude-test", maxTokens: 1_024, serverTools: [] };
const defaultAgent = serveDefaultAgent({ instructions: "Be brief." }, { client: model, model: settings });
const job = {
  ...livekit,
  name: roomName,
  jobId,
  room,
  connect: () => room.connect(livekit.url, token, { autoSubscribe: false, dynacast: false }),
  leave: (reason: string) => process.stdout.write(`left: ${reason}\n`),
};
const sql = connect(databaseUrl);
await openJobSession(job, {
  config: jobConfig({ model: settings }),
  logger: pino({ level: "silent" }),
  sql,
  permissionEvents: openPermissionEvents(databaseUrl, sql),
  serverTools: new Map([["act", toServerTool("act", act, undefined)]]),
  liveTools: { prefixes: [], onChanged: () => () => {} },
  agents: new Map(),
  defaultAgent,
  leaseMs,
});
process.stdout.write("ready\n");
// The process exits with the test, even if the test crashes.
process.stdin.on("end", () => process.exit()).resume();
