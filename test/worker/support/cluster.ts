import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ModelServer, startModelServer } from "../../../src/model-server/model-server.ts";
import type { Server } from "../../support/participant.ts";
import { type OwnLivekit, startOwnLivekit } from "../../support/servers/own-livekit.ts";
import { startRedis } from "../../support/servers/redis.ts";
import { type TempDatabase, tempDatabase } from "../../support/servers/temp-database.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { jobProcesses, type RunningMain, runMain, settingsFor } from "./run-main.ts";

const WORKERS = 3;
const KEYS = { apiKey: "clusterkey", apiSecret: "cluster-secret-of-at-least-32-characters" };
const DRAIN_SECONDS = 10;
const EVENTS = ["kill", "freeze", "drain", "replace"] as const;
type Event = (typeof EVENTS)[number];

type Parts = Pick<Cluster, "nodes" | "database" | "model" | "folder">;

/** Two LiveKit nodes that share a Redis, one PostgreSQL, a model, and workers that come and go. */
export class Cluster implements AsyncDisposable {
  readonly nodes: readonly OwnLivekit[];
  readonly database: TempDatabase;
  readonly model: ModelServer;
  readonly folder: string;
  /** How often workers have been disturbed, for each kind of event. */
  readonly events: Record<Event, number> = { kill: 0, freeze: 0, drain: 0, replace: 0 };
  readonly #cleanup: AsyncDisposableStack;
  readonly #healthy = new Set<RunningMain>();
  readonly #under = new Set<Promise<void>>();
  #started = 0;

  private constructor(parts: Parts, cleanup: AsyncDisposableStack) {
    ({ nodes: this.nodes, database: this.database, model: this.model, folder: this.folder } = parts);
    this.#cleanup = cleanup;
  }

  static async start(): Promise<Cluster> {
    await using starting = new AsyncDisposableStack();
    const { path: folder } = starting.use(await tempFolder());
    const database = starting.use(await tempDatabase());
    const model = starting.use(await startModelServer());
    const redis = await startRedis(folder);
    starting.defer(() => redis.close());
    const node = { keys: KEYS, redisAddress: redis.address };
    const nodes = [await startOwnLivekit(node), await startOwnLivekit(node)];
    for (const each of nodes) starting.defer(() => each.close());
    const cluster = new Cluster({ nodes, database, model, folder }, starting.move());
    await Promise.all(Array.from({ length: WORKERS }, () => cluster.#startWorker()));
    return cluster;
  }

  /** The file to which the workers' server tools write. */
  get runsFile(): string {
    return join(this.folder, "runs");
  }

  serverOf(talk: number): Server {
    const node = this.nodes[talk % this.nodes.length];
    if (!node) throw new Error("There is no node");
    return node;
  }

  /**
   * Kills, freezes and replaces workers at random moments for this many seconds. Resolves when all are healthy again.
   */
  async disturb(seconds: number, random: () => number): Promise<void> {
    const endsAt = performance.now() + seconds * 1_000;
    for (let index = 0; performance.now() < endsAt; index++) {
      await sleep(4_000 + random() * 6_000);
      const workers = [...this.#healthy];
      const worker = workers[Math.floor(random() * workers.length)];
      // Every kind of event happens about equally often, in any order.
      const event = EVENTS[(index + Math.floor(random() * 2)) % EVENTS.length];
      // The last healthy worker is left alone.
      if (workers.length < 2 || !worker || !event) continue;
      this.#healthy.delete(worker);
      this.events[event] += 1;
      const done = this.#befall(worker, event, random).finally(() => this.#under.delete(done));
      this.#under.add(done);
    }
    await Promise.all(this.#under);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#under);
    await this.#cleanup.disposeAsync();
  }

  async #befall(worker: RunningMain, event: Event, random: () => number): Promise<void> {
    const pids = () => [worker.pid, ...jobProcesses(worker.pid)];
    if (event === "freeze") {
      const frozen = pids();
      for (const pid of frozen) signal(pid, "SIGSTOP");
      await sleep(8_000 + random() * 15_000);
      for (const pid of frozen) signal(pid, "SIGCONT");
      this.#healthy.add(worker);
      return;
    }
    if (event === "replace") await this.#startWorker();
    if (event === "kill") for (const pid of pids().toReversed()) signal(pid, "SIGKILL");
    else worker.kill("SIGTERM");
    await worker.exited;
    if (event !== "replace") await this.#startWorker();
  }

  async #startWorker(): Promise<void> {
    const number = ++this.#started;
    const data = join(this.folder, `worker-${number}`);
    await mkdir(data);
    const settings = await settingsFor({
      livekit: this.serverOf(number),
      databaseUrl: this.database.url,
      modelUrl: this.model.url,
      folder: data,
    });
    const worker = runMain({
      ...settings,
      DRAIN_SECONDS: String(DRAIN_SECONDS),
      MAX_SESSIONS: "100",
      PARLEY_CONFIG: "test/fixtures/cluster/parley.config.ts",
      TEST_RUNS_FILE: this.runsFile,
    });
    this.#cleanup.defer(async () => {
      worker.kill("SIGCONT");
      worker.kill("SIGTERM");
      await worker.ended;
    });
    await worker.ready;
    this.#healthy.add(worker);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The worker has exited meanwhile.
  }
}
