import { leftOutParameters } from "../../store/database/address.ts";
import type { Logger } from "pino";
import type { DatabaseEndpoints } from "../../store/database/database-endpoints.ts";
import type { MigrationStatus } from "../../store/database/migrate.ts";

/** Logs what an operator should know about the database, such as the limits of its address and its pooler. */
export function reportDatabase(
  database: MigrationStatus & DatabaseEndpoints,
  addresses: { readonly databaseUrl: string; readonly directUrl: string | undefined },
  logger: Logger,
): void {
  const { databaseVersion, isDatabaseNewer, databaseUrl, listenUrl } = database;
  logger.debug({ databaseVersion }, "database is migrated");
  if (isDatabaseNewer) logger.warn("a newer release has migrated this database; going on with it as it is");
  reportLeftOut("DATABASE_URL", addresses.databaseUrl, logger);
  if (addresses.directUrl !== undefined) reportLeftOut("DATABASE_DIRECT_URL", addresses.directUrl, logger);
  if (databaseUrl !== addresses.databaseUrl)
    logger.info("prepared statements are not used: the database's pooler does not keep them");
  if (listenUrl !== undefined) return;
  logger.warn(
    addresses.directUrl === undefined
      ? "events are polled every second: no notification comes back through DATABASE_URL. DATABASE_DIRECT_URL may name PostgreSQL itself"
      : "events are polled every second: what is notified through DATABASE_URL is not heard at DATABASE_DIRECT_URL, which must be the same database, past any pooler",
  );
}

function reportLeftOut(variable: string, address: string, logger: Logger): void {
  const { withoutEffect, unknown } = leftOutParameters(address);
  if (unknown.length > 0) logger.warn({ variable, parameters: unknown }, "ignored unknown database address parameters");
  if (withoutEffect.length > 0)
    logger.info({ variable, parameters: withoutEffect }, "ignored database address parameters that have no effect");
}
