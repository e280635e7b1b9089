import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors/app-error.ts";
import { type MigrationStatus, migrate } from "../store/database/migrate.ts";
import { type TellProgress } from "./services/service.ts";

interface WaitOptions {
  readonly progress: TellProgress;
  readonly signal: AbortSignal;
  readonly retryMs?: number;
}

const RETRY_MS = 1_000;
/** Time between two equal lines. */
const SAY_AGAIN_MS = 30_000;

/**
 * Migrates the database as soon as it answers. A database that does not answer yet is waited for without a limit: it
 * may be starting at the same time as we are. An error that waiting does not mend, as a wrong password, is thrown.
 *
 * @throws {AppError} `invalid_config` as `migrate` does; an AbortError when the signal aborts
 */
export async function migrateWhenThere(
  databaseUrl: string,
  { progress, signal, retryMs = RETRY_MS }: WaitOptions,
): Promise<MigrationStatus> {
  const { hostname, port } = new URL(databaseUrl);
  let said = { text: "", at: 0 };
  for (;;) {
    try {
      return await migrate(databaseUrl);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
      const text = `waiting for the database at ${hostname}:${port || "5432"}: ${error.message}`;
      if (text !== said.text || performance.now() - said.at >= SAY_AGAIN_MS) {
        progress(text);
        said = { text, at: performance.now() };
      }
    }
    await sleep(retryMs, undefined, { signal });
  }
}
