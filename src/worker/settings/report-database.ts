import { leftOutParameters } from "../../store/database/address.ts";
import type { Logger } from "pino";
import type { DatabaseEndpoints } from "../../store/database/database-endpoints.ts";
import type { MigrationStatus } from "../../store/database/migrate.ts";

/**
 * Logs what an operator should know about the database, such as ignored address parameters and limits of its pooler.
 */
export function reportDatabase(
  database: MigrationStatus & DatabaseEndpoints,
  addresses: { readonly databaseUrl: string; readonly directUrl: string | undefined },
  logger: Logger,
): void {
  const { databaseVersion, isDatabaseNewer, databaseUrl, listenUrl } = database;
  logger.debug({ databaseVersion }, "database schema is current");
  if (isDatabaseNewer) logger.warn("database schema is newer than this release, continuing");
  reportLeftOut("DATABASE_URL", addresses.databaseUrl, logger);
  if (addresses.directUrl !== undefined) reportLeftOut("DATABASE_DIRECT_URL", addresses.directUrl, logger);
  if (databaseUrl !== addresses.databaseUrl)
    logger.info("prepared statements disabled, the database pooler does not keep them");
  if (listenUrl !== undefined) return;
  logger.warn(
    addresses.directUrl === undefined
      ? "no notifications through DATABASE_URL, polling every second; point DATABASE_DIRECT_URL directly at PostgreSQL"
      : "no notifications at DATABASE_DIRECT_URL, polling every second; set it to the same database as DATABASE_URL, without a pooler",
  );
}

function reportLeftOut(variable: string, address: string, logger: Logger): void {
  const { withoutEffect, unknown } = leftOutParameters(address);
  if (unknown.length > 0) logger.warn({ variable, parameters: unknown }, "ignored unknown database address parameters");
  if (withoutEffect.length > 0)
    logger.info({ variable, parameters: withoutEffect }, "ignored database address parameters that have no effect");
}
