import postgres from "postgres";

const CONNECT_TIMEOUT_S = 5;

/**
 * Options that make the driver use the extended protocol, in which a second statement is a syntax error (42601).
 * Without them, the driver would send a query without parameters in the simple protocol, which runs any number of
 * statements.
 */
const EXTENDED = { simple: false, prepare: false };

/**
 * Sends parameters as the text that the model wrote, so that PostgreSQL, not the driver, parses dates, booleans and
 * JSON.
 */
const asText = (...from: number[]) => ({ to: 25, from, serialize: String, parse: String });

/**
 * A single connection, which is opened by the first statement and runs one statement at a time. Must be disposed of;
 * disposing never waits.
 */
export interface Session extends AsyncDisposable {
  readonly query: <Row extends object>(sql: string, params?: (string | null)[]) => postgres.PendingQuery<Row[]>;
}

export function openSession(url: string): Session {
  let isLost = false;
  const pool = postgres(url, {
    max: 1,
    connect_timeout: CONNECT_TIMEOUT_S,
    fetch_types: false,
    onnotice: () => {},
    onclose: () => {
      isLost = true;
    },
    connection: { application_name: "parley database_query" },
    types: { json: asText(114, 3802), boolean: asText(16), date: asText(1082, 1114, 1184), bytea: asText(17) },
  });
  return {
    query<Row extends object>(sql: string, params: (string | null)[] = []) {
      // If the connection is lost, the driver would reconnect outside the transaction. (The driver's own `begin` would
      // crash the process here, because it sends a rollback on the lost socket.)
      if (isLost) throw new Error("The database connection was lost");
      return pool.unsafe<Row[]>(sql, params, EXTENDED);
    },
    [Symbol.asyncDispose]: () => pool.end({ timeout: 0 }),
  };
}
