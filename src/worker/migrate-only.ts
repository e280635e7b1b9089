import { AppError } from "../errors/app-error.ts";
import type { Config } from "./config.ts";
import type { ReportProgress } from "./services/service.ts";
import { DATABASE_NEEDED } from "./settings/missing-settings.ts";
import { migrateWhenAvailable } from "./wait-for-database.ts";

interface MigrateOptions {
  readonly config: Pick<Config, "databaseUrl" | "databaseDirectUrl">;
  readonly progress: ReportProgress;
  readonly signal: AbortSignal;
}

/**
 * Runs `--migrate`: only migrates the database to this release's version, as every worker does at start.
 *
 * @throws {AppError} `invalid_config` if no address is set; otherwise as `migrate`
 */
export async function migrateOnly({ config, progress, signal }: MigrateOptions): Promise<void> {
  const { databaseUrl, databaseDirectUrl = databaseUrl } = config;
  if (databaseDirectUrl === undefined)
    throw new AppError("invalid_config", `Required but not set:\n${DATABASE_NEEDED}`);
  const { databaseVersion, isDatabaseNewer } = await migrateWhenAvailable(databaseDirectUrl, { progress, signal });
  const whose = isDatabaseNewer ? ", which is newer than this release; nothing was changed" : "";
  progress(`the database is at version ${databaseVersion}${whose}`);
}
