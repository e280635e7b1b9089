import { setTimeout as sleep } from "node:timers/promises";
import { isAgentsProcess, onRegistered, runningJobIds } from "../../livekit/job-processes.ts";
import type { Sql } from "../../store/database/pool.ts";
import { releaseOwner } from "../../store/sessions/leases.ts";
import { needsAgent, type SessionRoom } from "../../store/sessions/session-rooms.ts";
import { createAgentServer } from "./agent-server.ts";
import { storeAgentRequest } from "../../store/sessions/waiting-rooms.ts";
import type { AcceptedJob } from "./accepted-jobs.ts";
import type { Config } from "../config.ts";
import { createRoomClients, isAnswered, requestAgent } from "./ensure-agent.ts";
import { isHostProcess } from "../hosts/session-host.ts";
import type { Logger } from "../logger.ts";
import { endChildren } from "../process/end-process.ts";
import { processCommand } from "../process/running-processes.ts";
import type { Service } from "../services/service.ts";
import type { Endpoints } from "../start-services.ts";
import { type ServeUnclaimedDispatch, serveUnclaimedDispatch } from "./serve-unclaimed-dispatch.ts";
import { watchJobs } from "./watch-jobs.ts";
import { mustWait, watchRooms } from "./watch-rooms.ts";

interface RunJobsOptions {
  readonly config: Config;
  /** Owned by the caller; `close` does not close it. */
  readonly sql: Sql;
  /** While the database is unreachable, the worker accepts no rooms. */
  readonly database: { readonly isAway: boolean };
  readonly livekit: Endpoints["livekit"];
  /** The environment of the processes that serve sessions (`jobEnvironment`). */
  readonly environment: NodeJS.ProcessEnv;
  readonly logger: Logger;
  /** Called when LiveKit has closed a session's room while no worker was in it. Must not reject. */
  readonly onClosed: (room: SessionRoom) => Promise<void>;
  /** Path of the module that a job process runs. @defaultValue src/worker/job/agent.ts */
  readonly agent?: string;
  /** Called when LiveKit's AgentServer has stopped on its own, so that the worker gets no more jobs. */
  readonly onFailed: (error: unknown) => void;
}

export interface Jobs extends Service {
  /**
   * Stops accepting rooms and hands each session over to another worker at its next pause. Resolves when all are handed
   * over, or after `withinMs`. If no other worker accepts a room, it resolves within 3 s. Sessions with a
   * process of their own are not handed over.
   */
  readonly handOver: (withinMs: number) => Promise<void>;
  /** Resolves when the worker has registered with LiveKit. */
  readonly registered: Promise<void>;
}

/** A stop may take 10 s in all; the rest is for services and telemetry. */
const CLOSE_LIMIT_MS = 6_000;

/** Registers with LiveKit and runs a job for every room. `close` lets the jobs store their turns, then ends them. */
export async function runJobs(options: RunJobsOptions): Promise<Jobs> {
  const { config, sql, database, livekit, environment, logger, onClosed, agent, onFailed } = options;
  let isDraining = false;
  const { server, accepted, pool } = await createAgentServer({
    config,
    livekit,
    environment,
    logger,
    database,
    mustWait: (room) => mustWait(sql, room),
    isDraining: () => isDraining,
    ...(agent !== undefined && { agent }),
  });
  const clients = createRoomClients(livekit, config.livekitAgentName);
  const onEnded = async ({ id: owner, room }: AcceptedJob, restMs: number) => {
    await storeAgentRequest(sql, { room, restMs });
    const hasDied = await releaseOwner(sql, { owner });
    return { needsAgent: hasDied && (await needsAgent(sql, { room })) };
  };
  const watching = new AbortController();
  const registered = Promise.withResolvers<void>();
  let watched: Promise<unknown> | undefined;
  let registration = new AbortController();
  const isServed = (room: string) => accepted.hasRoom(room);
  const freePlaces = () => {
    if (isDraining || database.isAway || pool?.busyShare === 1) return 0;
    return config.maxSessions - accepted.size;
  };
  // If each session has its own process, only LiveKit can start jobs.
  const take: ServeUnclaimedDispatch = pool
    ? serveUnclaimedDispatch({
        clients,
        livekit,
        accepted,
        launchJob: (job) => pool.launchJob(job),
        freePlaces,
        workerId: () => server.id,
        logger,
        signal: watching.signal,
      })
    : async () => {};
  const watch = watchJobs({
    accepted,
    runningJobIds: () => runningJobIds(server),
    clients,
    onEnded,
    serveUnclaimedDispatch: take,
    logger,
  });
  // Also called after each LiveKit outage: rooms created during the outage have no agent.
  onRegistered(server, () => {
    registered.resolve();
    registration.abort();
    registration = new AbortController();
    const signal = AbortSignal.any([watching.signal, registration.signal]);
    const parts = { clients, sql, isServed, freePlaces, onClosed, serveUnclaimedDispatch: take, logger, signal };
    watched = Promise.all([watched, watchRooms(parts)]);
  });
  const running = server.run().catch((error: unknown) => {
    if (!watching.signal.aborted) onFailed(error);
  });
  const close = async () => {
    watching.abort();
    await Promise.all([watch.close(), watched]);
    const limit = new AbortController();
    const closing = server.close().then(() => running);
    await Promise.race([closing, sleep(CLOSE_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => {})]);
    limit.abort();
    await endChildren({ graceMs: 0, keep: (pid) => !isJobProcess(processCommand(pid)) });
  };
  const handOver = async (withinMs: number) => {
    if (!pool || withinMs <= 0) return;
    isDraining = true;
    // Not awaited: it rejects after `withinMs`, and `pool.handOver` has the same limit.
    server.drain(withinMs).catch(() => {});
    const [first] = pool.processes;
    if (!first || !(await hasSuccessor(first.runningJob.job.room?.name ?? ""))) return;
    await pool.handOver({ withinMs, requestAgent: (room) => requestAgent(clients, room) });
  };
  /** LiveKit does not list its workers, so this requests an agent to find out whether another worker accepts it. */
  const hasSuccessor = async (room: string) => {
    try {
      return await isAnswered(clients, await requestAgent(clients, room));
    } catch (error) {
      logger.warn({ error }, "no agent could be asked for, to hand sessions over");
      return false;
    }
  };
  let closed: Promise<void> | undefined;
  return { registered: registered.promise, handOver, close: () => (closed ??= close()) };
}

function isJobProcess(command: string): boolean {
  return isAgentsProcess(command) || isHostProcess(command);
}
