import {
  type defineAgent,
  type ipc,
  JobContext,
  type JobProcess,
  type RunningJobInfo,
  runWithJobContextAsync,
} from "@livekit/agents";
import { Room, RoomEvent } from "@livekit/rtc-node";
import type { Logger } from "pino";
import { forgetRoom, filterRoomEvents } from "./room-events.ts";

type Agent = ReturnType<typeof defineAgent>;

interface HostedJobOptions {
  readonly agent: Pick<Agent, "entry" | "onSessionEnd">;
  readonly process: JobProcess;
  readonly inference: ipc.InferenceExecutor;
  readonly logger: Pick<Logger, "warn" | "error">;
  /**
   * Called when a job has ended, while it is still in its room. The job leaves the room once `mayLeave` resolves.
   * Neither promise may reject.
   */
  readonly retire: (room: Room) => Promise<{ readonly mayLeave: Promise<void> }>;
}

/** A job that shares this process with other jobs. */
export interface HostedJob {
  /** Ends the job. Only the first call counts. */
  readonly end: (reason: string) => void;
  /** Resolves once the job no longer serves its room. Never rejects. */
  readonly ended: Promise<void>;
  /** Resolves after `ended`, once the job has left its room. Never rejects. */
  readonly hasLeft: Promise<void>;
}

/**
 * Runs one job as LiveKit's job process does. Calls the agent's `entry`. When the room ends or `end` is called, closes
 * the AgentSession, calls `onSessionEnd`, the shutdown callbacks and `retire`, and finally disconnects. LiveKit's
 * process exits with its job, which frees everything; here the room must be released explicitly. LiveKit Cloud's
 * recordings and simulations are not supported. Checked with @livekit/agents 1.9.0.
 */
export function runHostedJob(info: RunningJobInfo, options: HostedJobOptions): HostedJob {
  const { agent, logger, inference, retire } = options;
  const room = new Room();
  filterRoomEvents(room);
  const { promise: ending, resolve: end } = Promise.withResolvers<string>();
  room.on(RoomEvent.Disconnected, () => end("room disconnected"));
  const context = new JobContext(options.process, info, room, () => {}, end, inference);
  const attempt = async (what: string, work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      logger.error({ error, jobId: info.job.id }, `job ${what} failed`);
    }
  };
  const run = async () => {
    const entry = attempt("start", () =>
      agent.entry(context).catch((error: unknown) => {
        end("job crashed");
        throw error;
      }),
    );
    await ending;
    await entry;
    await attempt("voice", () => context._primaryAgentSession?.close());
    await attempt("end", () => agent.onSessionEnd?.(context));
    await Promise.all(context.shutdownCallbacks.map((callback) => attempt("shutdown", callback)));
    return retire(room);
  };
  const leave = async ({ mayLeave }: { readonly mayLeave: Promise<void> }) => {
    await mayLeave;
    await attempt("disconnect", () => room.disconnect());
    forgetRoom(room);
  };
  const retired = runWithJobContextAsync(context, run);
  return { end, ended: retired.then(() => {}), hasLeft: retired.then(leave) };
}
