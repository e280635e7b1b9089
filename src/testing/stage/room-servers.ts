import { Cleanup } from "../../lib/cleanup.ts";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findLivekitPort } from "../../worker/process/ports.ts";
import { startPostgres } from "../../worker/services/embedded-postgres.ts";
import { startLivekitServer } from "../../worker/services/livekit-server.ts";
import { endWithProcess } from "./end-with-process.ts";

const REMOVE_WITHIN_MS = 5_000;
const REMOVE_AGAIN_MS = 20;

/** The servers for sessions in a real room. */
export interface RoomServers {
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  /** A database for tests, in which the sessions are stored. Parley's migrations are applied to it. */
  readonly databaseUrl: string;
}

/**
 * Starts a livekit-server and a PostgreSQL for the sessions of a test file or of a whole run. The caller must dispose
 * of both.
 *
 * @example
 * await using servers = await startRoomServers();
 * await using talk = await startTalk({ model, room: servers });
 */
export async function startRoomServers(): Promise<RoomServers & AsyncDisposable> {
  await using cleanup = new Cleanup();
  const dataDir = await mkdtemp(join(tmpdir(), "parley-testing-"));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  const pids: number[] = [];
  cleanup.defer(endWithProcess(() => killServers(pids, dataDir)));
  const cacheDir = resolve(process.env["PARLEY_CACHE_DIR"] || ".cache");
  // If there is no livekit-server yet, the first start builds one. These lines report the build, which takes minutes.
  const progress = (line: string) => void process.stderr.write(`parley: ${line}\n`);
  const livekit = await startLivekitServer({ dataDir, cacheDir, port: await findLivekitPort(), progress });
  pids.push(livekit.pid);
  cleanup.defer(() => livekit.close());
  const postgres = await startPostgres({ dataDir, port: 0, progress: () => {} });
  pids.push(postgres.pid);
  cleanup.defer(() => postgres.close());
  const running = cleanup.move();
  return { livekit, databaseUrl: postgres.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Ends both servers and deletes their data. SIGQUIT ends them immediately, including PostgreSQL's child processes. */
function killServers(pids: readonly number[], dataDir: string): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGQUIT");
    } catch {
      // The server has already exited.
    }
  }
  // Try for a while, because PostgreSQL keeps writing until it has exited.
  const until = performance.now() + REMOVE_WITHIN_MS;
  while (existsSync(dataDir) && performance.now() < until) {
    try {
      rmSync(dataDir, { recursive: true, force: true });
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REMOVE_AGAIN_MS);
    }
  }
}
