import type { AcceptedJob, AcceptedJobs } from "./accepted-jobs.ts";
import { ensureAgent, type RoomClients } from "./ensure-agent.ts";
import type { Logger } from "../logger.ts";
import type { ServeUnclaimedDispatch } from "./serve-unclaimed-dispatch.ts";
import { REST_MS } from "./watch-rooms.ts";

interface WatchOptions {
  readonly accepted: AcceptedJobs;
  readonly runningJobIds: () => ReadonlySet<string>;
  readonly clients: RoomClients;
  /**
   * Called when a job has ended. Releases the job's lease, and keeps other workers from requesting an agent for the
   * room for `restMs`. Resolves to whether the job died before its session ended, so that the room needs a new agent.
   */
  readonly onEnded: (job: AcceptedJob, restMs: number) => Promise<{ readonly needsAgent: boolean }>;
  readonly serveUnclaimedDispatch: ServeUnclaimedDispatch;
  readonly logger: Logger;
  /**
   * How often the jobs are checked. Must be short: a job that dies before it was seen running counts as not started.
   * @defaultValue 100
   */
  readonly intervalMs?: number;
}

/**
 * How many new agents a room may get within a minute. After that, it gets no more, because the next agent would
 * probably die as well.
 */
const MAX_RESTORES = 5;
const RESTORE_WINDOW_MS = 60_000;

/**
 * Requests a new agent for each room whose job has ended while participants are still in the room. LiveKit does not
 * replace a job whose process has died. `close` stops this and waits for pending requests.
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
  const { clients, logger, onEnded, serveUnclaimedDispatch } = options;
  const { room, id: jobId } = job;
  const now = performance.now();
  const recent = (restores.get(room) ?? []).filter((at) => now - at < RESTORE_WINDOW_MS);
  for (const [name, times] of restores) if (times.every((at) => now - at >= RESTORE_WINDOW_MS)) restores.delete(name);
  const isGivenUp = recent.length >= MAX_RESTORES;
  if (isGivenUp) logger.error({ room, jobId }, "agents keep ending in this room, not requesting another");
  try {
    const { needsAgent } = await onEnded(job, isGivenUp ? RESTORE_WINDOW_MS : REST_MS);
    if (isGivenUp) return;
    const isAllowed = async () => true;
    const dispatch = await ensureAgent(clients, room, { former: job.identity, needsAgent, isAllowed });
    if (!dispatch) return;
    restores.set(room, [...recent, now]);
    logger.warn({ room, jobId }, "agent ended while its session was open, requested another");
    await serveUnclaimedDispatch(dispatch);
  } catch (error) {
    logger.error({ room, jobId, error }, "requesting replacement agent failed");
  }
}
