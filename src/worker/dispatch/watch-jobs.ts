import { type AcceptedJob, type AcceptedJobs } from "./accepted-jobs.ts";
import { ensureAgent, type RoomClients } from "./ensure-agent.ts";
import { type Logger } from "../logger.ts";

interface WatchOptions {
  readonly accepted: AcceptedJobs;
  readonly runningJobIds: () => ReadonlySet<string>;
  readonly clients: RoomClients;
  /** The job's process is gone: what it held is free. */
  readonly onEnded: (jobId: string) => Promise<void>;
  readonly logger: Logger;
  /** Short, because a job that dies before it was seen counts as one that has yet to start. @defaultValue 100 */
  readonly intervalMs?: number;
}

/** A room whose agents keep dying is left alone after so many in a minute: another one would not live either. */
const MAX_RESTORES = 5;
const RESTORE_WINDOW_MS = 60_000;

/**
 * LiveKit does not replace a job whose process died. This looks often for jobs that ended and gives their room
 * a new agent while somebody is still in it. `close` stops looking, and waits for what it is doing.
 */
export function watchJobs(options: WatchOptions): { close: () => Promise<void> } {
  const { accepted, runningJobIds, intervalMs = 100 } = options;
  const restores = new Map<string, number[]>();
  const running = new Set<Promise<void>>();
  const look = () => {
    for (const job of accepted.takeEnded(runningJobIds())) {
      const task = serveAgain(job, options, restores).finally(() => running.delete(task));
      running.add(task);
    }
  };
  const timer = setInterval(look, intervalMs);
  return {
    close: async () => {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}

async function serveAgain(job: AcceptedJob, options: WatchOptions, restores: Map<string, number[]>): Promise<void> {
  const { clients, logger, onEnded } = options;
  const { room, id: jobId } = job;
  const now = performance.now();
  const recent = (restores.get(room) ?? []).filter((at) => now - at < RESTORE_WINDOW_MS);
  for (const [name, times] of restores) if (times.every((at) => now - at >= RESTORE_WINDOW_MS)) restores.delete(name);
  if (recent.length >= MAX_RESTORES) {
    logger.error({ room, jobId }, "agents keep ending in this room: no new one is asked for");
    return;
  }
  try {
    await onEnded(jobId);
    if (!(await ensureAgent(clients, room, job.identity))) return;
    restores.set(room, [...recent, now]);
    logger.warn({ room, jobId }, "an agent ended while participants were in its room: asked for a new one");
  } catch (error) {
    logger.error({ room, jobId, error }, "an agent ended and no new one could be asked for");
  }
}
