import { AutoSubscribe, defineAgent, type JobContext, type JobProcess } from "@livekit/agents";
import type { SessionWatcher } from "../../session/events/session-event.ts";
import { developmentView } from "../terminal/development-view.ts";
import { openLogOutput } from "../terminal/log-output.ts";
import { isHosted, reportBusy } from "./host-messages.ts";
import type { HandOver, JobRoom, JobSession } from "./job-session.ts";
import { openJobSession } from "./open-job-session.ts";
import { loadJobServices, type JobServices } from "./job-services.ts";

/** How long an open session may take to finish its turn when the worker stops. */
const CLOSE_GRACE_MS = 2_000;

interface JobData extends Record<string, unknown> {
  services?: JobServices;
}

/** Open sessions by job id. */
const sessions = new Map<string, Promise<JobSession>>();

/** The job that LiveKit runs for each room, in a process of its own, or with other jobs in a host process. */
export default defineAgent<JobData>({
  async prewarm(job: JobProcess<JobData>) {
    job.userData.services = await loadJobServices(process.env, process.cwd());
  },
  async entry(context: JobContext<JobData>) {
    const services = context.proc.userData.services ?? (await loadJobServices(process.env, process.cwd()));
    if (!isHosted()) context.addShutdownCallback(() => services.close());
    const opening = openJobSession(toJobRoom(context), { ...services, watchers: viewsOf(context, services) });
    sessions.set(context.job.id, opening);
    await opening;
  },
  async onSessionEnd({ job }: JobContext<JobData>) {
    const session = await openedOf(job.id);
    sessions.delete(job.id);
    await session?.close(CLOSE_GRACE_MS);
  },
});

/** The development view shows turns at the same levels of the log as the lines that it replaces. */
function viewsOf({ job }: JobContext, { config, logger }: JobServices): readonly SessionWatcher[] {
  if (!config.isDevelopment || !logger.isLevelEnabled("info")) return [];
  return [developmentView(job.room?.name ?? "", openLogOutput(config))];
}

/** Hands a job's session over to an agent on another worker. Gives up after `withinMs`. */
export async function handOver(jobId: string, { withinMs, ...rest }: HandOver): Promise<void> {
  const until = performance.now() + withinMs;
  const session = await openedOf(jobId);
  await session?.handOver({ withinMs: Math.max(0, Math.round(until - performance.now())), ...rest });
}

/** Resolves to the job's session once it is open, or to `undefined` if it could not be opened. */
function openedOf(jobId: string): Promise<JobSession | undefined> {
  return Promise.resolve(sessions.get(jobId)).catch(() => undefined);
}

/** Closes the services that all jobs in a host process share. */
export async function closeHost({ userData }: JobProcess<JobData>): Promise<void> {
  await userData.services?.close();
}

function toJobRoom(context: JobContext): JobRoom {
  const { room, job, info } = context;
  return {
    name: job.room?.name ?? "",
    jobId: job.id,
    room,
    sid: job.room?.sid,
    metadata: job.metadata,
    agentName: job.agentName,
    connect: () => context.connect(undefined, AutoSubscribe.SUBSCRIBE_NONE),
    leave: (reason) => context.shutdown(reason),
    onBusy: (isBusy) => reportBusy(job.id, isBusy),
    url: info.url,
    apiKey: info.apiKey,
    apiSecret: info.apiSecret,
  };
}
