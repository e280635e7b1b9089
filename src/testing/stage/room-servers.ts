import { Cleanup } from "../../lib/cleanup.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findLivekitPort } from "../../worker/process/ports.ts";
import { startPostgres } from "../../worker/services/embedded-postgres.ts";
import { startLivekitServer } from "../../worker/services/livekit-server.ts";

/** Servers for talks in a room. */
export interface RoomServers {
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  /** A database for tests: its tables are brought up to date, and the talks are stored in it. */
  readonly databaseUrl: string;
}

/**
 * Starts a livekit-server and a PostgreSQL for the talks of a test file or of a whole run. The caller disposes of them.
 *
 * @example
 * await using servers = await startRoomServers();
 * await using talk = await startTalk({ model, room: servers });
 */
export async function startRoomServers(): Promise<RoomServers & AsyncDisposable> {
  await using cleanup = new Cleanup();
  const dataDir = await mkdtemp(join(tmpdir(), "parley-testing-"));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  const cacheDir = resolve(process.env["PARLEY_CACHE_DIR"] || ".cache");
  // Without a livekit-server the first start builds one, which takes minutes: these lines say so.
  const progress = (line: string) => void process.stderr.write(`parley: ${line}\n`);
  const livekit = await startLivekitServer({ dataDir, cacheDir, port: await findLivekitPort(), progress });
  cleanup.defer(() => livekit.close());
  const postgres = await startPostgres({ dataDir, port: 0, progress: () => {} });
  cleanup.defer(() => postgres.close());
  const running = cleanup.move();
  return { livekit, databaseUrl: postgres.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
