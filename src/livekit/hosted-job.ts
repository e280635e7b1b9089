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
import { forgetRoom, hearOwnEvents } from "./room-events.ts";

type Agent = ReturnType<typeof defineAgent>;

interface HostedJobOptions {
  readonly agent: Pick<Agent, "entry" | "onSessionEnd">;
  readonly process: JobProcess;
  readonly inference: ipc.InferenceExecutor;
  readonly logger: Pick<Logger, "warn" | "error">;
  /** Called when a job has ended, while it is still in its room. It leaves at `mayLeave`. Neither may reject. */
  readonly retire: (room: Room) => Promise<{ readonly mayLeave: Promise<void> }>;
}

/** A job that runs in this process beside others. */
export interface HostedJob {
  /** Tells it to end, once. */
  readonly end: (reason: string) => void;
  /** Resolves when it serves its room no more; never rejects. */
  readonly ended: Promise<void>;
  /** Resolves after that, when it has left its room; never rejects. */
  readonly left: Promise<void>;
}

/**
 * Runs one job as LiveKit's job process does: the agent's `entry`, until the room is over or `end` is called, then its
 * AgentSession's end, `onSessionEnd`, the shutdown callbacks, `retire`, and the room's end. That process ends with its job and
 * takes all of the job along; here the room must be let go of. Nothing of LiveKit Cloud's recordings and simulations is
 * done. Checked with @livekit/agents 1.9.0.
 */
export function runHostedJob(info: RunningJobInfo, options: HostedJobOptions): HostedJob {
  const { agent, logger, inference, retire } = options;
  const room = new Room();
  hearOwnEvents(room);
  const { promise: over, resolve: end } = Promise.withResolvers<string>();
  room.on(RoomEvent.Disconnected, () => end("room disconnected"));
  const context = new JobContext(options.process, info, room, () => {}, end, inference);
  const attempt = async (what: string, work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      logger.error({ error, jobId: info.job.id }, `a job's ${what} failed`);
    }
  };
  const run = async () => {
    const entry = attempt("start", () =>
      agent.entry(context).catch((error: unknown) => {
        end("job crashed");
        throw error;
      }),
    );
    await over;
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
  return { end, ended: retired.then(() => {}), left: retired.then(leave) };
}
