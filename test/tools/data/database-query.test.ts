import { createServer } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import databaseQuery from "../../../tools/data/database-query.ts";
import { runTool } from "../run-tool.ts";
import { startTempPostgres } from "./temp-postgres.ts";

let database: Awaited<ReturnType<typeof startTempPostgres>>;

beforeAll(async () => {
  database = await startTempPostgres();
  await database.admin.unsafe(`
    create role reader login password 'reader';
    create table person (id bigint primary key, name text not null, born date, tags jsonb);
    insert into person values (1, 'Ada', '1815-12-10', '{"a": [1, 2]}'), (2, 'Grace', null, null);
    grant select on person to reader;
    create table secret (value text);
    insert into secret values ('hidden');
    create table note (tenant text, body text);
    insert into note values ('ours', 'mine'), ('theirs', 'not mine');
    alter table note enable row level security;
    create policy own on note to reader using (tenant = 'ours');
    grant select, insert, update, delete on note to reader;
    create sequence counter;
    grant usage on sequence counter to reader;
  `);
});

afterAll(async () => {
  await database.stop();
});

interface Options {
  readonly params?: readonly unknown[];
  readonly signal?: AbortSignal;
  readonly settings?: object;
}

const query = async (sql: string, { params, signal, settings }: Options = {}) =>
  await runTool(databaseQuery, params === undefined ? { sql } : { sql, params }, {
    settings: { url: database.urlAs("reader", "reader"), ...settings },
    ...(signal === undefined ? {} : { signal }),
  });

/** The number of statements that the server is currently running for the tool's role. */
const running = async () => {
  const [row] = await database.admin`select count(*)::int as count from pg_stat_activity where usename = 'reader'`;
  return row?.["count"] as number;
};

test("rows are returned as lists in the order of the columns", async () => {
  expect(await query("select id, name, born, tags from person order by id")).toEqual({
    columns: ["id", "name", "born", "tags"],
    rows: [
      [1, "Ada", "1815-12-10", { a: [1, 2] }],
      [2, "Grace", null, null],
    ],
    rowCount: 2,
    truncated: false,
  });
});

test("an empty answer still has its columns", async () => {
  expect(await query("select id, name from person where false")).toEqual({
    columns: ["id", "name"],
    rows: [],
    rowCount: 0,
    truncated: false,
  });
});

test.each<[string, readonly unknown[], unknown]>([
  ["select name from person where id = $1", [2], [["Grace"]]],
  ["select name from person where born = $1", ["1815-12-10"], [["Ada"]]],
  ["select name from person where tags @> $1", ['{"a": [1]}'], [["Ada"]]],
  ["select name from person where (born is null) = $1", [true], [["Grace"]]],
  ["select $1::text", ["'; drop table person; --"], [["'; drop table person; --"]]],
  ["select $1::int is null", [null], [[true]]],
  ["select $1::timestamp", ["2026-01-02 03:04"], [["2026-01-02T03:04:00"]]],
  ["select $1", ["plain"], [["plain"]]],
])("%s takes its parameters as values", async (sql, params, rows) => {
  expect(await query(sql, { params })).toMatchObject({ rows });
});

test.each<[string, unknown]>([
  ["9007199254740993::bigint", "9007199254740993"],
  ["9007199254740991::bigint", 9_007_199_254_740_991],
  ["12345678901234567890.12::numeric", "12345678901234567890.12"],
  ["1.10::numeric", 1.1],
  ["0.1::float8 + 0.2::float8", 0.300_000_000_000_000_04],
  ["'NaN'::float8", "NaN"],
  ["'-infinity'::float8", "-Infinity"],
  ["1e30::numeric", 1e30],
  ["'\\xff00'::bytea", "\\xff00"],
  ["array[1, 2]", [1, 2]],
  ["null", null],
  ["row(1, 'a')", { f1: 1, f2: "a" }],
  ["'2026-01-02 03:04+00'::timestamptz at time zone 'UTC'", "2026-01-02T03:04:00"],
])("the value %s keeps its meaning", async (expression, value) => {
  expect(await query(`select ${expression}`)).toMatchObject({ rows: [[value]] });
});

test.each([
  "select 1 as a, 2 as a",
  "values (1, 2)",
  "with x as (select 1 as a) select a, a + 1 from x",
  "/* first */ -- second\n select 1, 2 -- third",
  "select 1, 2;",
  "select 1, 2 ; ; ",
  "(select 1, 2)",
  "select 1, 2 union all select 3, 4 limit 1",
])("%j is a single query that only reads", async (sql) => {
  expect(await query(sql)).toMatchObject({ rows: [[1, 2]] });
});

test("a table can be queried by name, and semicolons and comments inside text are text", async () => {
  expect(await query("table person")).toMatchObject({ rowCount: 2 });
  expect(await query("select ';--', $$; drop table person$$, '/*'")).toMatchObject({
    rows: [[";--", "; drop table person", "/*"]],
  });
});

const COPY = "copy (select 1) to program 'touch /tmp/parley-owned'";
test.each<[string, string]>([
  ["select 1; drop table person", "42601"],
  ["select 1; commit; drop table person", "42601"],
  ["select $$a$$; drop table person", "42601"],
  ["select 1) as q; drop table person; --", "42601"],
  ["select 1) as query (c0) offset 0) as lines) as counted union select (select 'x'", "42601"],
  ["select 1 /*", "42601"],
  ["select 'open", "42601"],
  ["select 1 --\n)", "42601"],
  [COPY, "return columns"],
  ["copy person to '/tmp/parley-owned'", "return columns"],
  ["copy person from program 'id'", "return columns"],
  ["with gone as (delete from note returning *) select * from gone", "0A000"],
  ["insert into note values ('ours', 'x') returning *", "42601"],
  ["delete from note returning *", "42601"],
  ["update note set body = 'x'", "return columns"],
  ["/* select */ delete from note", "return columns"],
  ["-- select\ndelete from note", "return columns"],
  ["select * into stolen from person", "return columns"],
  ["create table stolen as select 1", "return columns"],
  ["create temp table t (a int)", "return columns"],
  ["explain analyze delete from note", "42601"],
  ["explain select 1", "42601"],
  ["show all", "42601"],
  ["set statement_timeout = 0", "return columns"],
  ["set role parley", "return columns"],
  ["reset all", "return columns"],
  ["begin", "return columns"],
  ["commit", "return columns"],
  ["lock table person in access share mode", "return columns"],
  ["do $$ begin perform pg_sleep(60); end $$", "return columns"],
  ["prepare p as select 1", "return columns"],
  ["listen channel", "return columns"],
  ["vacuum", "return columns"],
  ["call pg_sleep(1)", "42809"],
  ["select pg_read_file('/etc/passwd')", "42501"],
  ["select pg_ls_dir('/')", "42501"],
  ["select lo_import('/etc/passwd')", "42501"],
  ["select lo_create(0)", "25006"],
  ["select nextval('counter')", "25006"],
  ["select * from note for update", "25006"],
  ["select value from secret", "42501"],
  ["select set_config('role', 'parley', false)", "42501"],
  ["select set_config('session_authorization', 'parley', false)", "42501"],
  ["select set_config('transaction_read_only', 'off', false)", "25001"],
  ["select pg_reload_conf()", "42501"],
  ["select dblink('x', 'y')", "42883"],
  ["select 1 where 1 = $1", "The query has 1 parameters, but 0 values were given"],
  ["selec 1", "42601"],
  ["select", "return columns"],
  [";", "return columns"],
  ["select missing from person", "42703"],
  ["select 1/0", "22012"],
  ["select 'x'::int", "22P02"],
  ["select * from person where name = E'\\u0000'", "22P05|42601|22025"],
])("%j is refused", async (sql, reason) => {
  await expect(query(sql)).rejects.toThrow(new RegExp(reason));
  const [left] = await database.admin`select count(*)::int as people, to_regclass('stolen') as stolen from person`;
  expect(left).toEqual({ people: 2, stolen: null });
});

test("an error message helps the model and contains no connection data", async () => {
  const failure = await query("select nme from person").catch((error: unknown) => error);
  expect(String(failure)).toBe(
    'Error: column "nme" does not exist (42703). Hint: Perhaps you meant to reference the column "person.name".',
  );
});

test("only the rows of the role's own tenant are visible", async () => {
  expect(await query("select body from note")).toMatchObject({ rows: [["mine"]] });
});

test("row security cannot be switched off from inside", async () => {
  await expect(query("select set_config('row_security', 'off', false), body from note")).resolves.toMatchObject({
    rows: [["off", "mine"]],
  });
});

test("rows beyond the limit are cut off, with a note", async () => {
  const result = await query("select generate_series(1, 2000000) as n", { settings: { maxRows: 3 } });
  expect(result).toEqual({ columns: ["n"], rows: [[1], [2], [3]], rowCount: 3, truncated: true });
});

test("exactly as many rows as allowed are not truncated", async () => {
  const result = await query("select generate_series(1, 3)", { settings: { maxRows: 3 } });
  expect(result).toMatchObject({ rowCount: 3, truncated: false });
});

test("a hundred million rows generated one by one take only a moment", async () => {
  const start = performance.now();
  expect(await query("select generate_series(1, 100000000)")).toMatchObject({ rowCount: 100, truncated: true });
  expect(performance.now() - start).toBeLessThan(1_000);
});

test("a hundred million rows generated at once end at the timeout", async () => {
  const settings = { statementTimeoutMs: 200 };
  await expect(query("select * from generate_series(1, 100000000)", { settings })).rejects.toThrow(
    "The query took longer than 200 ms",
  );
});

test("bytes beyond the limit are cut off by the server, row by row", async () => {
  const settings = { maxBytes: 1_000 };
  const result = await query("select repeat('x', 300) from generate_series(1, 10)", { settings });
  expect(result).toMatchObject({ rowCount: 3, truncated: true });
});

test("one row of 30 MB is left out, with a note", async () => {
  const result = await query("select repeat('x', 30000000)", { settings: { statementTimeoutMs: 15_000 } });
  expect(result).toEqual({ columns: ["repeat"], rows: [], rowCount: 0, truncated: true });
});

test("one row of 300 MB never reaches this process, whether it is generated in time or not", async () => {
  const before = process.memoryUsage().rss;
  const asked = query("select repeat('x', 300000000)", { settings: { statementTimeoutMs: 1_000 } });
  const outcome = await asked.then(JSON.stringify, String);
  expect(outcome).toMatch(/"rowCount":0,"truncated":true|The query took longer than 1000 ms/);
  expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
});

test.each([
  "select pg_sleep(60)",
  "select set_config('statement_timeout', '0', false), pg_sleep(60)",
  "select set_config('statement_timeout', '0', true), count(*) from generate_series(1, 10000000000)",
  "with recursive r as (select 1 as n union all select n + 1 from r) select count(*) from r",
  "select (select pg_sleep(60)) from person where set_config('statement_timeout', '0', false) is not null",
])("%s ends at the timeout, here and on the server", async (sql) => {
  const start = performance.now();
  await expect(query(sql, { settings: { statementTimeoutMs: 200 } })).rejects.toThrow("took longer than 200 ms");
  expect(performance.now() - start).toBeLessThan(2_000);
  await expect.poll(running).toBe(0);
});

test("waiting for somebody's lock ends at the timeout, too", async () => {
  const blocker = await database.admin.reserve();
  await blocker`begin`;
  await blocker`lock table person in access exclusive mode`;
  await expect(query("select * from person", { settings: { statementTimeoutMs: 200 } })).rejects.toThrow("took longer");
  await blocker`rollback`;
  blocker.release();
});

test("an advisory lock is gone with the call", async () => {
  await query("select pg_advisory_lock(7)");
  await expect
    .poll(async () => (await database.admin`select 1 from pg_locks where locktype = 'advisory'`).length)
    .toBe(0);
});

test("a setting made by one call is gone in the next", async () => {
  await query("select set_config('search_path', 'elsewhere', false)");
  expect(await query("select current_setting('search_path')")).toMatchObject({ rows: [['"$user", public']] });
});

test("a notification from inside is rolled back", async () => {
  const heard: string[] = [];
  const channel = await database.admin.listen("parley_test", (text) => heard.push(text));
  await query("select pg_notify('parley_test', 'from the model')");
  await database.admin.notify("parley_test", "from the test");
  await expect.poll(() => heard).toEqual(["from the test"]);
  await channel.unlisten();
});

test("an abort rejects with its own reason and stops the query on the server", async () => {
  const abort = new AbortController();
  const asked = query("select pg_sleep(60)", { signal: abort.signal, settings: { statementTimeoutMs: 60_000 } });
  await expect.poll(running).toBe(1);
  const stop = new Error("stop");
  setTimeout(() => abort.abort(stop), 100);
  await expect(asked).rejects.toBe(stop);
  await expect.poll(running).toBe(0);
});

test("a frozen server is given up on at our own deadline, six seconds after its own", async () => {
  const start = performance.now();
  const asked = query("select pg_sleep(60)", { settings: { statementTimeoutMs: 500 } });
  asked.catch(() => {});
  await expect.poll(running).toBe(1);
  const [row] = await database.admin`select pid from pg_stat_activity where usename = 'reader'`;
  const pid = row?.["pid"] as number;
  process.kill(pid, "SIGSTOP");
  try {
    await expect(asked).rejects.toThrow("took longer than 500 ms");
    expect(performance.now() - start).toBeGreaterThan(6_000);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await expect.poll(running).toBe(0);
});

test("a call that is already aborted does not connect", async () => {
  const stop = new Error("stop");
  await expect(query("select 1", { signal: AbortSignal.abort(stop) })).rejects.toBe(stop);
});

test("ten simultaneous calls each get their own answer, and no session is left", async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => query("select $1::int", { params: [n] })));
  expect(answers.map((answer) => (answer as { rows: unknown[][] }).rows[0]?.[0])).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
  await expect.poll(running).toBe(0);
});

test.each<[string, string, string]>([
  ["superuser", "", "is a superuser"],
  ["nosuperuser", "grant pg_execute_server_program to risky", "is a member of a privileged pg_ role"],
  ["nosuperuser", "grant pg_read_server_files to risky", "is a member of a privileged pg_ role"],
  ["nosuperuser", "grant pg_write_all_data to risky", "is a member of a privileged pg_ role"],
  [
    "nosuperuser",
    "create role middle; grant pg_write_server_files to middle; grant middle to risky",
    "is a member of a privileged pg_ role",
  ],
  ["nosuperuser", "grant parley to risky with inherit false", "is a superuser"],
  ["nosuperuser", "create table mine (a int); alter table mine owner to risky", "owns tables"],
  [
    "nosuperuser",
    "create role boss; grant boss to risky; create view v as select 1; alter view v owner to boss",
    "owns tables",
  ],
  ["nosuperuser", "alter database parley owner to risky", "owns the database"],
  ["nosuperuser", "grant execute on function pg_read_file(text) to risky", "may use the server's files"],
  ["bypassrls", "", "bypasses row level security"],
  ["createrole", "", "may create roles"],
  ["replication", "", "may replicate the server"],
])("a role that is %s after %j is refused", async (attribute, grants, reason) => {
  const { admin, urlAs } = database;
  await admin.unsafe(`create role risky login password 'risky' ${attribute}; ${grants}`);
  try {
    const asked = query("select 1", { settings: { url: urlAs("risky", "risky") } });
    await expect(asked).rejects.toThrow(`database_query refuses to run because its database role ${reason}`);
  } finally {
    await admin.unsafe(`
      alter database parley owner to parley; drop owned by risky;
      drop table if exists mine; drop view if exists v; drop role if exists middle, boss; drop role risky`);
  }
});

test.each([
  ["a wrong password", () => database.urlAs("reader", "wrong-secret")],
  ["an unknown database", () => database.urlAs("reader", "reader", "nowhere")],
  ["a closed port", () => "postgres://reader:reader@127.0.0.1:1025/parley"],
  ["an unknown host", () => "postgres://reader:reader@host.invalid/parley"],
])("%s is reported without the connection's data", async (_name, url) => {
  await expect(query("select 1", { settings: { url: url() } })).rejects.toThrow(/^The database cannot be reached$/);
});

test("a server that accepts and says nothing is given up on when the signal aborts", async () => {
  const mute = createServer(() => {}).listen(0, "127.0.0.1");
  await once(mute, "listening");
  const address = mute.address();
  const port = typeof address === "object" ? address?.port : 0;
  const asked = query("select 1", {
    settings: { url: `postgres://reader:reader@127.0.0.1:${port}/parley` },
    signal: AbortSignal.timeout(100),
  });
  await expect(asked).rejects.toMatchObject({ name: "TimeoutError" });
  mute.close();
});

test("a session that is killed in the middle is reported without the host", async () => {
  const asked = query("select pg_sleep(60)", { settings: { statementTimeoutMs: 60_000 } });
  asked.catch(() => {});
  await expect.poll(running).toBe(1);
  await database.admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'reader'`;
  await expect(asked).rejects.toThrow(/^(The database connection was lost|terminating connection .*)$/);
});

test.each([
  {},
  { url: "mysql://localhost/x" },
  { url: "not a url" },
  { url: "postgres://localhost/x", statementTimeoutMs: 0 },
  { url: "postgres://localhost/x", maxRows: 1_000_000 },
  { url: "postgres://localhost/x", maxbytes: 1 },
])("the settings %j stop the start", async (settings) => {
  await expect(runTool(databaseQuery, { sql: "select 1" }, { settings })).rejects.toThrow(z.ZodError);
});

test.each([
  {},
  { sql: "" },
  { sql: "  " },
  { sql: 1 },
  { sql: "select 1\0; drop table person" },
  { sql: `select '${"x".repeat(10_000)}'` },
  { sql: "select 1", params: "1" },
  { sql: "select 1", params: [{}] },
  { sql: "select 1", params: ["a\0b"] },
  { sql: "select 1", params: [Number.NaN] },
  { sql: "select 1", params: Array(51).fill(1) },
  { sql: "select 1", url: "postgres://elsewhere/" },
])("the input %j is refused by the schema", async (input) => {
  await expect(runTool(databaseQuery, input)).rejects.toThrow(z.ZodError);
});
