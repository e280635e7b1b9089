import type postgres from "postgres";
import type { JsonValue } from "../../lib/json.ts";
import { readAddress } from "./address.ts";
import { driver } from "./driver.ts";
import { openSocket } from "./open-socket.ts";

/** A pool of connections. Timestamps are milliseconds since the epoch, in parameters and in results. */
export type Sql = postgres.Sql<{ timestamp: number }>;

export interface PoolOptions {
  /** @defaultValue 2, for one host process (see docs/scaling.md) */
  readonly maxConnections?: number;
  /** Shown in `pg_stat_activity`. @defaultValue "parley" */
  readonly applicationName?: string;
  /** @defaultValue the address's `connect_timeout`, otherwise 5000 */
  readonly connectTimeoutMs?: number;
  /** A connection that receives no answer for this long is closed; 0 means no limit. @defaultValue 15000 */
  readonly answerTimeoutMs?: number;
}

const TIMESTAMP = {
  to: 1184,
  from: [1114, 1184],
  serialize: (value: number | Date) => new Date(value).toISOString(),
  parse: (text: string) => new Date(text).getTime(),
};

/**
 * Creates a pool. The first query opens a connection. The caller must call `end`. The address may contain parameters
 * (`?sslmode=require`; for `?prepare=false` see `findDatabaseEndpoints`).
 *
 * @throws {AppError} `invalid_config` if `sslmode` is unknown or a certificate file in the address cannot be read
 */
export function connect(databaseUrl: string, options: PoolOptions = {}): Sql {
  const address = readAddress(databaseUrl);
  const {
    maxConnections = 2,
    applicationName = "parley",
    connectTimeoutMs = address.connectTimeoutMs ?? 5_000,
    answerTimeoutMs = 15_000,
  } = options;
  const settings = {
    ...address.options,
    max: maxConnections,
    // Disabled, because `openSocket` has its own timeout. The driver's timer can outlive the socket, and the timer's
    // error would then crash the process.
    connect_timeout: 0,
    connection: { application_name: applicationName, ...address.settings },
    types: { timestamp: TIMESTAMP },
    fetch_types: false,
    onnotice: () => {},
    // postgres.js waits up to 20 s between attempts by default, even if the database is back.
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 1),
    socket: (target: { host: string[]; port: number[]; path?: string | false }) =>
      openSocket(target, { connectTimeoutMs, answerTimeoutMs }),
  };
  return driver(address.url, settings);
}

/** Returns a jsonb parameter, or SQL's null (not JSON's) for `undefined` and `null`. */
export function jsonParameter(sql: Sql, value: JsonValue | undefined) {
  return value === undefined || value === null ? null : sql.json(value);
}
