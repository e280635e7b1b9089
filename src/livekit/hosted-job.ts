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
}

/** A job that runs in this process beside others. */
export interface HostedJob {
  /** Tells it to end, once. */
  readonly end: (reason: string) => void;
  /** Resolves when it has left its room; never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Runs one job as LiveKit's job process does: the agent's `entry`, until the room is over or `end` is called, then its
 * AgentSession's end, `onSessionEnd`, the room's end and the shutdown callbacks. That process ends with its job and
 * takes all of the job along; here the room must be let go of. Nothing of LiveKit Cloud's recordings and simulations is
 * done. Checked with @livekit/agents 1.9.0.
 */
export function runHostedJob(info: RunningJobInfo, options: HostedJobOptions): HostedJob {
  const { agent, logger, inference } = options;
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
    await attempt("disconnect", () => room.disconnect());
    forgetRoom(room);
    await Promise.all(context.shutdownCallbacks.map((callback) => attempt("shutdown", callback)));
  };
  return { end, ended: runWithJobContextAsync(context, run) };
}
