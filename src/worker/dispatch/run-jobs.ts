import { setTimeout as sleep } from "node:timers/promises";
import { isAgentsProcess, onRegistered, runningJobIds } from "../../livekit/job-processes.ts";
import type { ModelCallReport } from "../../llm/watch-model.ts";
import type { Sql } from "../../store/database/pool.ts";
import { releaseOwner } from "../../store/sessions/leases.ts";
import { needsAgent, type SessionRoom } from "../../store/sessions/session-rooms.ts";
import { createAgentServer } from "./agent-server.ts";
import { storeAgentRequest } from "../../store/sessions/waiting-rooms.ts";
import type { AcceptedJob } from "./accepted-jobs.ts";
import type { Config } from "../config.ts";
import { createRoomClients, isAnswered, requestAgent, type RoomClients } from "./ensure-agent.ts";
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
  /** The caller's connection pool. `close` does not close it. */
  readonly sql: Sql;
  /** While the database is unreachable, the worker accepts no rooms. */
  readonly database: { readonly isUnavailable: boolean };
  readonly livekit: Endpoints["livekit"];
  /** The environment of the processes that serve sessions (`jobEnvironment`). */
  readonly environment: NodeJS.ProcessEnv;
  readonly logger: Logger;
  /** Called with the result of each model call in a host process. */
  readonly onModelCall: (report: ModelCallReport) => void;
  /** Called when LiveKit has closed a session's room while no worker was in it. Must not reject. */
  readonly onClosed: (room: SessionRoom) => Promise<void>;
  /** Path of the module that a job process runs. @defaultValue src/worker/job/agent.ts */
  readonly agent?: string;
  /** Called when LiveKit's AgentServer has stopped on its own, so that the worker receives no more jobs. */
  readonly onFailed: (error: unknown) => void;
}

export interface Jobs extends Service {
  /**
   * Stops accepting rooms and hands each session over to another worker at the session's next pause. Resolves when all
   * are handed over, or after `withinMs`. If no other worker accepts a room, resolves within 3 s. Sessions with their
   * own process are not handed over.
   */
  readonly handOver: (withinMs: number) => Promise<void>;
  /** Resolves when the worker has registered with LiveKit. */
  readonly registered: Promise<void>;
}

/** The time limit for ending jobs. A shutdown may take 10 s in total; the rest is for services and telemetry. */
const CLOSE_LIMIT_MS = 6_000;

/** Registers with LiveKit and runs a job for every room. `close` lets the jobs store their turns, then ends them. */
export async function runJobs(options: RunJobsOptions): Promise<Jobs> {
  const { config, sql, database, livekit, environment, logger, onModelCall, agent } = options;
  const draining = new AbortController();
  const created = await createAgentServer({
    config,
    livekit,
    environment,
    logger,
    database,
    onModelCall,
    mustWait: (room) => mustWait(sql, room),
    isDraining: () => draining.signal.aborted,
    ...(agent !== undefined && { agent }),
  });
  return new RunningJobs(options, created, draining);
}

type AgentServerParts = Awaited<ReturnType<typeof createAgentServer>>;

class RunningJobs implements Jobs {
  readonly #options: RunJobsOptions;
  readonly #parts: AgentServerParts;
  readonly #clients: RoomClients;
  /** Aborted when the worker is about to stop and accepts no more rooms. */
  readonly #draining: AbortController;
  readonly #watching = new AbortController();
  readonly #registered = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  readonly #jobs: Service;
  #rooms: Promise<unknown> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: RunJobsOptions, parts: AgentServerParts, draining: AbortController) {
    const { config, livekit, logger, onFailed } = options;
    const { server, accepted } = parts;
    this.#options = options;
    this.#parts = parts;
    this.#draining = draining;
    this.#clients = createRoomClients(livekit, config.livekitAgentName);
    const serveUnclaimed = this.#createServeUnclaimed();
    this.#jobs = watchJobs({
      accepted,
      runningJobIds: () => runningJobIds(server),
      clients: this.#clients,
      onEnded: (job, restMs) => this.#handleEnded(job, restMs),
      serveUnclaimedDispatch: serveUnclaimed,
      logger,
    });
    this.#watchRooms(serveUnclaimed);
    this.#running = server.run().catch((error: unknown) => {
      if (!this.#watching.signal.aborted) onFailed(error);
    });
  }

  get registered(): Promise<void> {
    return this.#registered.promise;
  }

  async handOver(withinMs: number): Promise<void> {
    const { server, pool } = this.#parts;
    if (!pool || withinMs <= 0) return;
    this.#draining.abort();
    // `drain` is not awaited: it rejects after `withinMs`, and `pool.handOver` applies the same limit.
    server.drain(withinMs).catch(() => {});
    const [first] = pool.processes;
    if (!first || !(await this.#hasSuccessor(first.runningJob.job.room?.name ?? ""))) return;
    await pool.handOver({ withinMs, requestAgent: (room) => requestAgent(this.#clients, room) });
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#watching.abort();
    await Promise.all([this.#jobs.close(), this.#rooms]);
    const limit = new AbortController();
    const closing = this.#parts.server.close().then(() => this.#running);
    await Promise.race([closing, sleep(CLOSE_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => {})]);
    limit.abort();
    await endChildren({ graceMs: 0, keep: (pid) => !isJobProcess(processCommand(pid)) });
  }

  /** Starts watching rooms after each registration, because rooms created during a LiveKit outage have no agent. */
  #watchRooms(serveUnclaimed: ServeUnclaimedDispatch): void {
    const { sql, onClosed, logger } = this.#options;
    const { server, accepted } = this.#parts;
    const parts = {
      clients: this.#clients,
      sql,
      isServed: (room: string) => accepted.hasRoom(room),
      freeSlots: () => this.#freeSlots(),
      onClosed,
      serveUnclaimedDispatch: serveUnclaimed,
      logger,
    };
    let registration = new AbortController();
    onRegistered(server, () => {
      this.#registered.resolve();
      registration.abort();
      registration = new AbortController();
      const signal = AbortSignal.any([this.#watching.signal, registration.signal]);
      this.#rooms = Promise.all([this.#rooms, watchRooms({ ...parts, signal })]);
    });
  }

  /**
   * Returns a function that serves unclaimed dispatches. If each session has its own process, the function does
   * nothing, because then only LiveKit can start jobs.
   */
  #createServeUnclaimed(): ServeUnclaimedDispatch {
    const { livekit, logger } = this.#options;
    const { server, accepted, pool } = this.#parts;
    if (!pool) return async () => {};
    return serveUnclaimedDispatch({
      clients: this.#clients,
      livekit,
      accepted,
      launchJob: (job) => pool.launchJob(job),
      freeSlots: () => this.#freeSlots(),
      workerId: () => server.id,
      logger,
      signal: this.#watching.signal,
    });
  }

  #freeSlots(): number {
    const { config, database } = this.#options;
    const { accepted, pool } = this.#parts;
    if (this.#draining.signal.aborted || database.isUnavailable || pool?.busyShare === 1) return 0;
    return config.maxSessions - accepted.size;
  }

  async #handleEnded({ id: owner, room }: AcceptedJob, restMs: number): Promise<{ readonly needsAgent: boolean }> {
    const { sql } = this.#options;
    await storeAgentRequest(sql, { room, restMs });
    const hasDied = await releaseOwner(sql, { owner });
    return { needsAgent: hasDied && (await needsAgent(sql, { room })) };
  }

  /**
   * Requests an agent to find out whether another worker accepts the dispatch, because LiveKit does not list its
   * workers.
   */
  async #hasSuccessor(room: string): Promise<boolean> {
    try {
      return await isAnswered(this.#clients, await requestAgent(this.#clients, room));
    } catch (error) {
      this.#options.logger.warn({ error }, "requesting agent for handover failed");
      return false;
    }
  }
}

function isJobProcess(command: string): boolean {
  return isAgentsProcess(command) || isHostProcess(command);
}
