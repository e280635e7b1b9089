import postgres from "postgres";

const CONNECT_TIMEOUT_S = 5;

/**
 * Parse, bind, execute: a second statement is a syntax error (42601). Without it, the driver sends a text without
 * parameters by the simple protocol, which runs as many statements as there are.
 */
const EXTENDED = { simple: false, prepare: false };

/** Parameters travel as the text that the model wrote: PostgreSQL, not the driver, reads dates, booleans and JSON. */
const asText = (...from: number[]) => ({ to: 25, from, serialize: String, parse: String });

/** One connection, with one statement at a time, which connects on the first. Dispose of it: that never waits. */
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
      // The driver would connect anew, outside the transaction. (Its own `begin` crashes the process here, by a
      // rollback on the lost socket.)
      if (isLost) throw new Error("The connection to the database broke");
      return pool.unsafe<Row[]>(sql, params, EXTENDED);
    },
    [Symbol.asyncDispose]: () => pool.end({ timeout: 0 }),
  };
}
