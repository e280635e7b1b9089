import { mkdir, readdir, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ensurePage } from "../../../scripts/ensure-page.ts";
import { connect } from "../../../src/store/database/pool.ts";
import { endWithRun } from "../processes/end-with-run.ts";
import { databaseFolder } from "./database-folder.ts";
import { findFreePorts } from "./free-ports.ts";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { endStalePostgres, startPostgres } from "../../../src/worker/services/embedded-postgres.ts";
import { endStaleLivekitServer, startLivekitServer } from "../../../src/worker/services/livekit-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The test run's only livekit-server. Rooms are shared, so use unique names. */
    livekitUrl: string;
    livekitApiKey: string;
    livekitApiSecret: string;
    /** The test run's only PostgreSQL, with the right to create databases: use `tempDatabase`. */
    databaseAdminUrl: string;
  }
}

const CACHE_DIR = join(import.meta.dirname, "../../../.cache");
const RUNS = join(databaseFolder(), `parley-test-runs-${userInfo().uid}`);

/**
 * Starts a real LiveKit and a real PostgreSQL for the whole run, as `npm start` does, and builds the page if one of its
 * sources is newer. The returned function stops both servers.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  endWithRun();
  // Makes every livekit-server in the run collect garbage less often. With Go's default, garbage collection takes a
  // fifth of the server's CPU time, by Go's own measurement.
  process.env["GOGC"] ??= "400";
  await clearKilledRuns();
  // Built here, once for the run. If two test files built the page at the same time, each would remove it while the
  // other's worker serves it.
  await ensurePage();
  const dataDir = join(RUNS, String(process.pid));
  await mkdir(dataDir, { recursive: true });
  const progress = (line: string) => process.stderr.write(`test servers: ${line}\n`);
  const quiet = () => {};
  const port = await findFreePorts(3);
  const starting = [
    startLivekitServer({ dataDir, cacheDir: CACHE_DIR, port, progress }),
    startPostgres({ dataDir, port: 0, progress: quiet }),
  ] as const;
  // If one server fails to start, the other is stopped.
  await Promise.all(starting).catch(async (error: unknown) => {
    for (const result of await Promise.allSettled(starting))
      if (result.status === "fulfilled") await result.value.close();
    throw error;
  });
  const [livekit, database] = await Promise.all(starting);
  await easeDatabase(database.url);
  project.provide("livekitUrl", livekit.url);
  project.provide("livekitApiKey", livekit.apiKey);
  project.provide("livekitApiSecret", livekit.apiSecret);
  project.provide("databaseAdminUrl", database.url);
  return async () => {
    await Promise.all([livekit.close(), database.close()]);
    // PostgreSQL's child processes exit a moment later than PostgreSQL, and may still write to the folder.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
}

/**
 * Speeds up the run's databases. They need not survive a crash of the machine, so no commit waits for the disk. They
 * are small, so deleted rows need not be cleaned up during a test.
 */
async function easeDatabase(databaseUrl: string): Promise<void> {
  const sql = connect(databaseUrl, { maxConnections: 1 });
  await sql`alter system set fsync = off`;
  await sql`alter system set autovacuum = off`;
  // Every new connection has to prove the password, which takes 4,096 rounds of hashing by default.
  await sql`set scram_iterations = 1`;
  const { username, password } = new URL(databaseUrl);
  await sql.unsafe(`alter role ${username} password '${password}'`);
  await sql`select pg_reload_conf()`;
  await sql.end();
}

/** Cleans up after killed runs, which leave their servers and a folder named after their process id. */
async function clearKilledRuns(): Promise<void> {
  for (const pid of await readdir(RUNS).catch(() => [])) {
    if (processStart(Number(pid)) !== undefined) continue;
    const dataDir = join(RUNS, pid);
    await Promise.all([endStaleLivekitServer(dataDir), endStalePostgres(dataDir)]);
    await rm(dataDir, { recursive: true, force: true });
  }
}
