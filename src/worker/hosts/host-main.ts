import { pathToFileURL } from "node:url";
import { type defineAgent, getJobContext, type ipc, JobProcess } from "@livekit/agents";
import { dispose } from "@livekit/rtc-node";
import { runHostedJob, type HostedJob } from "../../livekit/hosted-job.ts";
import { startAgentsLog } from "../../livekit/job-processes.ts";
import { awaitSuccessor } from "../job/await-successor.ts";
import type { HandOver } from "../job/job-session.ts";
import { createLogger } from "../logger.ts";
import { loadConfig } from "../settings/load-config.ts";
import { openLogOutput } from "../terminal/log-output.ts";
import { fromSentJob, sendToWorker, type SentJob, type ToHost } from "../job/host-messages.ts";

// The program of a host process, which serves many sessions. Its argument is the path of the job entry's module.

interface AgentModule {
  readonly default: ReturnType<typeof defineAgent>;
  readonly closeHost?: (host: JobProcess) => Promise<void>;
  readonly handOver?: (jobId: string, options: HandOver) => Promise<void>;
}

/** How long a host process keeps running after its worker is gone. */
const ORPHAN_MS = 8_000;
/** How long a turn may take to finish after the worker is gone, before it is left to another worker. */
const ORPHAN_TURN_MS = 2_000;

const config = await loadConfig(process.env, process.cwd());
const output = openLogOutput(config);
startAgentsLog(config.logLevel, output.write);
const logger = createLogger(config, { output });
const module: AgentModule = await import(pathToFileURL(process.argv[2] ?? "").href);
const host = new JobProcess();
const jobs = new Map<string, HostedJob>();
/** Jobs that are still in their room, including those that have ended. */
const inRoom = new Set<HostedJob>();
const inference = createInference();

process.on("uncaughtException", (error) => {
  const jobId = getJobContext(false)?.job.id;
  logger.fatal({ error, jobId }, "uncaught exception, host process exiting");
  if (jobId !== undefined) sendToWorker({ type: "poisoned", jobId });
  setTimeout(() => process.exit(1), 50);
});
process.on("unhandledRejection", (error) => {
  logger.error({ error, jobId: getJobContext(false)?.job.id }, "unhandled rejection");
});
process.on("message", (message: ToHost) => handle(message));
process.on("disconnect", () => {
  setTimeout(() => process.exit(1), ORPHAN_MS).unref();
  void Promise.all([...jobs].map(endOrphan)).then(close);
});
// Ctrl-C in a terminal reaches all processes, but the worker stops its host processes itself.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

await module.default.prewarm?.(host);
sendToWorker({ type: "ready" });

function handle(message: ToHost): void {
  switch (message.type) {
    case "start":
      return start(message.job);
    case "end":
      return jobs.get(message.jobId)?.end(message.reason);
    case "hand_over":
      return void handOver(message.jobId, message.withinMs);
    case "ping":
      return sendToWorker({ type: "pong", rssBytes: process.memoryUsage.rss() });
    case "inferred":
      return inference.settle(message);
    case "close":
      void close();
  }
}

function start(sent: SentJob): void {
  const info = fromSentJob(sent);
  const { id } = info.job;
  const options = { agent: module.default, process: host, inference, logger, retire: awaitSuccessor };
  const job = runHostedJob(info, options);
  jobs.set(id, job);
  inRoom.add(job);
  void job.hasLeft.then(() => inRoom.delete(job));
  void job.ended.then(() => {
    jobs.delete(id);
    sendToWorker({ type: "ended", jobId: id });
  });
}

async function handOver(jobId: string, withinMs: number): Promise<void> {
  await module.handOver?.(jobId, { withinMs, onPause: () => sendToWorker({ type: "paused", jobId }) });
  jobs.get(jobId)?.end("handed over");
}

async function endOrphan([jobId, job]: [string, HostedJob]): Promise<void> {
  await module.handOver?.(jobId, { withinMs: ORPHAN_TURN_MS });
  job.end("the worker is gone");
  await job.ended;
}

async function close(): Promise<void> {
  await module.closeHost?.(host).catch((error: unknown) => logger.error({ error }, "host process shutdown failed"));
  // `dispose` would remove agents that are waiting in their rooms for a successor. If the process exits without calling
  // it, LiveKit keeps these agents for another 20 s.
  if (inRoom.size === 0) await dispose().catch(() => {});
  process.exit(0);
}

/** LiveKit's models run in one process for the whole worker. Host processes call that process through the worker. */
function createInference() {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  return {
    doInference(method: string, data: unknown): Promise<unknown> {
      const answer = Promise.withResolvers<unknown>();
      const requestId = ++last;
      waiting.set(requestId, answer);
      sendToWorker({ type: "infer", requestId, method, data });
      return answer.promise;
    },
    settle({ requestId, data, error }: Extract<ToHost, { type: "inferred" }>): void {
      const answer = waiting.get(requestId);
      waiting.delete(requestId);
      if (error === undefined) answer?.resolve(data);
      else answer?.reject(new Error(error));
    },
  } satisfies ipc.InferenceExecutor & { settle: unknown };
}
