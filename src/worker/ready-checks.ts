import { RoomServiceClient } from "livekit-server-sdk";
import type { ReadyCheck } from "../http/routes/health-routes.ts";
import { migrationsAreApplied } from "../store/database/migrate.ts";
import { connect } from "../store/database/pool.ts";
import type { Service } from "./services/service.ts";
import type { Endpoints } from "./start-services.ts";

const TIME_LIMIT_MS = 2_000;

/**
 * Returns the checks for GET /ready. They have their own database connection, so that a busy pool cannot delay them.
 */
export function createReadyChecks({ livekit, databaseUrl }: Pick<Endpoints, "livekit" | "databaseUrl">): Service & {
  checks: readonly ReadyCheck[];
  /** Rejects if PostgreSQL does not answer within 2 s. */
  askDatabase: () => Promise<boolean>;
} {
  const { url, apiKey, apiSecret } = livekit;
  const rooms = new RoomServiceClient(url, apiKey, apiSecret, { requestTimeout: TIME_LIMIT_MS / 1_000 });
  const sql = connect(databaseUrl, {
    maxConnections: 1,
    applicationName: "parley-ready",
    connectTimeoutMs: TIME_LIMIT_MS,
    answerTimeoutMs: TIME_LIMIT_MS,
  });
  const askDatabase = async () => (await sql`select 1`).length === 1;
  const checks: readonly ReadyCheck[] = [
    { part: "livekit", check: async () => Array.isArray(await rooms.listRooms(["none"])) },
    { part: "database", check: askDatabase },
    { part: "migrations", check: () => migrationsAreApplied(sql) },
  ];
  return { checks, askDatabase, close: () => sql.end({ timeout: 1 }) };
}
