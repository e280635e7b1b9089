import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAddress, toAddress, unknownParameters } from "../../../src/store/database/address.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const driverOf = (text: string) => readAddress(toAddress(text) ?? "");

test.each([
  ["postgresql://u:p@/db?host=/cloudsql/a:b:c", "/cloudsql/a:b:c"],
  ["postgresql:///db?host=/run/postgresql", "/run/postgresql"],
  ["postgresql://u:p@localhost/db?host=/run/postgresql", "/run/postgresql"],
  ["postgresql://u:p@%2Fcloudsql%2Fa%3Ab%3Ac/db", "/cloudsql/a:b:c"],
  ["postgresql://u@%2Frun%2Fpg:5433/db", "/run/pg"],
])("%s is a database behind a Unix socket", (text, host) => {
  const { url, options } = driverOf(text);

  expect(options).toMatchObject({ host, ssl: false });
  expect(new URL(url).pathname).toBe("/db");
});

test.each([
  "postgresql://u:p@ep-x.neon.tech/db?sslmode=require&channel_binding=require",
  "postgres://u:p@h:6543/db?pgbouncer=true&connection_limit=1&pool_timeout=10",
  "postgres://u:p@h/db?sslmode=verify-full&sslrootcert=system&keepalives=1&keepalives_idle=30",
  "postgres://u:p@h/db?supa=base-pooler.x&gssencmode=disable&uselibpqcompat=true",
])("%s, as services tell people to copy it, has nothing that is not understood", (text) => {
  const { url, settings } = driverOf(text);

  expect(unknownParameters(text)).toEqual([]);
  expect([new URL(url).search, settings]).toEqual(["", {}]);
});

test("the server's settings go with the connection, and what nobody knows is named", () => {
  const text = "postgres://h/db?options=-c%20a%3Db&statement_timeout=5s&app.tenant=7&schema=parley&sslmod=require";

  expect(driverOf(text).settings).toEqual({
    options: "-c a=b",
    statement_timeout: "5s",
    "app.tenant": "7",
    search_path: '"parley"',
  });
  expect(unknownParameters(text)).toEqual(["sslmod"]);
});

test("a pooler in transaction mode gets no prepared statements, and a timeout is in seconds", () => {
  expect(driverOf("postgres://h/db?pgbouncer=true&connect_timeout=9")).toMatchObject({
    options: { prepare: false },
    connectTimeoutMs: 9_000,
  });
});

test("a root certificate is read, and verifies the server's also where only encryption was asked for", async () => {
  await using folder = await tempFolder();
  const path = join(folder.path, "rds.pem");
  await writeFile(path, "a certificate");

  expect(driverOf(`postgres://h/db?sslmode=require&sslrootcert=${path}`).options).toMatchObject({
    ssl: { ca: "a certificate", rejectUnauthorized: true },
  });
  expect(() => driverOf("postgres://h/db?sslrootcert=/nowhere.pem")).toThrow("sslrootcert of the database's address");
});

test.each(["http://h/db", "postgres:/h", "h/db", "postgres://a b/db"])("%s is no address of a database", (text) => {
  expect(toAddress(text)).toBeUndefined();
});
