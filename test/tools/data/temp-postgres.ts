import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { startPostgres } from "../../../src/worker/services/embedded-postgres.ts";
import { databaseFolder } from "../../support/servers/database-folder.ts";

/** A separate PostgreSQL server for the test file, with its data in a temporary folder. `stop` removes both. */
export async function startTempPostgres() {
  const dataDir = await mkdtemp(join(databaseFolder(), "parley-postgres-"));
  const server = await startPostgres({ dataDir, port: 0, progress: () => {} });
  const urlAs = (user: string, password: string, database = "parley") =>
    Object.assign(new URL(server.url), { username: user, password, pathname: `/${database}` }).href;
  const admin = postgres(server.url, { max: 2, onnotice: () => {} });
  return {
    admin,
    urlAs,
    async stop() {
      await admin.end({ timeout: 1 });
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
