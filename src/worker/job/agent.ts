import { AutoSubscribe, defineAgent, type JobContext, type JobProcess } from "@livekit/agents";
import { openJobSession, type JobRoom, type JobSession } from "./job-session.ts";
import { loadJobServices, type JobServices } from "./job-services.ts";

/** When the worker stops, the running turn may take this long to end by itself. */
const CLOSE_GRACE_MS = 2_000;

interface JobData extends Record<string, unknown> {
  services?: JobServices;
  session?: JobSession;
}

/** What LiveKit runs in each job process: one process, one room, one session. */
export default defineAgent<JobData>({
  async prewarm(job: JobProcess<JobData>) {
    job.userData.services = await loadJobServices(process.env, process.cwd());
  },
  async entry(context: JobContext<JobData>) {
    const services = context.proc.userData.services ?? (await loadJobServices(process.env, process.cwd()));
    context.addShutdownCallback(() => services.close());
    context.proc.userData.session = await openJobSession(toJobRoom(context), services);
  },
  async onSessionEnd(context: JobContext<JobData>) {
    await context.proc.userData.session?.close(CLOSE_GRACE_MS);
  },
});

function toJobRoom(context: JobContext): JobRoom {
  const { room, job, info } = context;
  return {
    name: job.room?.name ?? "",
    jobId: job.id,
    room,
    connect: () => context.connect(undefined, AutoSubscribe.SUBSCRIBE_NONE),
    leave: (reason) => context.shutdown(reason),
    url: info.url,
    apiKey: info.apiKey,
    apiSecret: info.apiSecret,
  };
}
