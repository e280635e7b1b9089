import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAddress, toAddress, unusedParameters } from "../../../src/store/database/address.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** The parameters that libpq in PostgreSQL 18 reads (its page "Parameter Key Words"). */
const LIBPQ =
  "host hostaddr port dbname user password passfile require_auth channel_binding connect_timeout client_encoding options \
application_name fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout \
replication gssencmode sslmode requiressl sslnegotiation sslcompression sslcert sslkey sslkeylogfile sslpassword sslcertmode \
sslrootcert sslcrl sslcrldir sslsni requirepeer ssl_min_protocol_version ssl_max_protocol_version min_protocol_version \
max_protocol_version krbsrvname gsslib gssdelegation scram_client_key scram_server_key service target_session_attrs \
load_balance_hosts oauth_issuer oauth_client_id oauth_client_secret oauth_scope".split(" ");
const USED =
  "host hostaddr port dbname user password connect_timeout client_encoding options application_name tcp_user_timeout sslmode \
requiressl sslnegotiation sslcert sslkey sslpassword sslrootcert sslcrl ssl_min_protocol_version ssl_max_protocol_version \
target_session_attrs".split(" ");

const driverOf = (text: string) => readAddress(toAddress(text) ?? "");

test.each([
  ["postgresql://u:p@/db?host=/cloudsql/a:b:c", "/cloudsql/a:b:c"],
  ["postgresql:///db?host=/run/postgresql", "/run/postgresql"],
  ["postgresql://u:p@localhost/db?host=/run/postgresql", "/run/postgresql"],
  ["postgresql://u:p@%2Fcloudsql%2Fa%3Ab%3Ac/db", "/cloudsql/a:b:c"],
  ["postgresql://u@%2Frun%2Fpg:5433/db", "/run/pg"],
])("%s refers to a database behind a Unix socket", (text, host) => {
  const { url, options } = driverOf(text);

  expect(options).toMatchObject({ host, ssl: false });
  expect(new URL(url).pathname).toBe("/db");
});

test.each([
  ["postgresql://u:p@%40parley%2Fpg:5433/db", "\0parley/pg/.s.PGSQL.5433"],
  ["postgresql://u:p@/db?host=@parley", "\0parley/.s.PGSQL.5432"],
])("%s refers to a socket in the abstract namespace", (text, path) => {
  expect(driverOf(text).options).toMatchObject({ path, ssl: false });
});

test("an address without a host means the socket of the machine's own PostgreSQL", async () => {
  const socket = "/tmp/.s.PGSQL.65431";
  await writeFile(socket, "");
  try {
    expect(driverOf("postgresql://:65431/db").options).toMatchObject({ host: "/tmp", port: 65_431 });
    expect(driverOf("postgresql:///db?port=65431").options).toMatchObject({ host: "/tmp", port: 65_431 });
    expect(driverOf("postgresql://u@/db?port=65432").options).not.toHaveProperty("host");
  } finally {
    await rm(socket);
  }
});

test.each(["postgres://u@h1,h2/db", "postgres://u@h1:5432,h2:5433/db", "postgres:///db?host=h1,h2"])(
  "%s is refused, because only its first server would be used",
  (text) => {
    expect(toAddress(text)).toBeUndefined();
  },
);

test.each([
  ["postgresql://u:p@ep-x.neon.tech/db?sslmode=require&channel_binding=require", ["channel_binding"]],
  ["postgres://u:p@h:6543/db?pgbouncer=true&connection_limit=1&pool_timeout=10", ["connection_limit", "pool_timeout"]],
  ["postgres://u:p@h/db?sslmode=verify-full&sslrootcert=system&keepalives=1", ["keepalives"]],
  ["postgres://u:p@h/db?supa=base-pooler.x&workaround=supabase-pooler.vercel", ["supa", "workaround"]],
  ["postgres://u:p@h/db?schema=public&sslaccept=strict&socket_timeout=5", ["socket_timeout"]],
  ["postgres://u:p@/db?host=/cloudsql/a:b:c", []],
])("%s, as services document it, is understood, or known to have no effect", (text, withoutEffect) => {
  const { url, settings } = driverOf(text);

  expect(unusedParameters(toAddress(text) ?? "")).toEqual({ withoutEffect, unknown: [] });
  expect(new URL(url).search).toBe("");
  expect(Object.keys(settings)).toEqual(text.includes("schema") ? ["search_path"] : []);
});

test.each(LIBPQ)("libpq's %s is used, or reported as ignored", (name) => {
  const { withoutEffect, unknown } = unusedParameters(`postgres://h/db?${name}=1`);

  expect(unknown).toEqual([]);
  expect(withoutEffect).toEqual(USED.includes(name) ? [] : [name]);
});

test("server settings are sent with the connection, and unknown ones are reported", () => {
  const text = "postgres://h/db?options=-c%20a%3Db&statement_timeout=5s&app.tenant=7&schema=parley&sslmod=require";

  expect(driverOf(text).settings).toEqual({
    options: "-c a=b",
    statement_timeout: "5s",
    "app.tenant": "7",
    search_path: '"parley"',
  });
  expect(unusedParameters(text).unknown).toEqual(['sslmod. Did you mean "sslmode"?']);
});

test.each([
  ["sslmode=no-verify", { rejectUnauthorized: false }],
  ["sslmode=require", { rejectUnauthorized: false }],
  ["requiressl=1", { rejectUnauthorized: false }],
  ["sslmode=verify-ca", { rejectUnauthorized: true }],
  ["sslaccept=strict", { rejectUnauthorized: true }],
  ["ssl=true", { rejectUnauthorized: true }],
  ["sslmode=require&ssl_min_protocol_version=TLSv1.3", { minVersion: "TLSv1.3" }],
  ["hostaddr=10.0.0.1&host=db.example&sslmode=verify-full", { servername: "db.example" }],
])("%s determines how the connection is encrypted", (query, ssl) => {
  expect(driverOf(`postgres://h/db?${query}`).options).toMatchObject({ ssl });
});

test("a client certificate does not prevent the server's from being verified", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "client.pem");
  await writeFile(path, "a certificate");

  expect(driverOf(`postgres://h/db?sslmode=verify-ca&sslcert=${path}&sslpassword=p`).options).toMatchObject({
    ssl: { cert: "a certificate", passphrase: "p", rejectUnauthorized: true },
  });
  expect(driverOf(`postgres://h/db?sslrootcert=system&sslcert=${path}`).options).toMatchObject({
    ssl: { cert: "a certificate", rejectUnauthorized: true },
  });
});

test("a misspelt mode of encryption is refused", () => {
  expect(() => driverOf("postgres://h/db?sslmode=requird")).toThrow("sslmode in the database address: expected one of");
});

test("a pooler in transaction mode gets no prepared statements, and a timeout is in seconds", () => {
  expect(driverOf("postgres://h/db?pgbouncer=true&connect_timeout=9")).toMatchObject({
    options: { prepare: false },
    connectTimeoutMs: 9_000,
  });
});

test("a root certificate is read, and verifies the server's even if only encryption was requested", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "rds.pem");
  await writeFile(path, "a certificate");

  expect(driverOf(`postgres://h/db?sslmode=require&sslrootcert=${path}`).options).toMatchObject({
    ssl: { ca: "a certificate", rejectUnauthorized: true },
  });
  expect(() => driverOf("postgres://h/db?sslrootcert=/nowhere.pem")).toThrow("sslrootcert in the database address");
});

test.each(["http://h/db", "postgres:/h", "h/db", "postgres://a b/db"])("%s is not an address of a database", (text) => {
  expect(toAddress(text)).toBeUndefined();
});
