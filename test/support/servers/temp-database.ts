import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nanoid } from "nanoid";
import { inject } from "vitest";
import { MIGRATION_FOLDER, migrate, migrationFiles } from "../../../src/store/database/migrate.ts";
import { connect, type Sql } from "../../../src/store/database/pool.ts";

declare module "vitest" {
  interface ProvidedContext {
    databaseAdminUrl: string;
  }
}

export interface TempDatabase extends AsyncDisposable {
  readonly url: string;
  readonly sql: Sql;
  /** Closes `sql` and every other connection. The database's address is invalid afterwards. */
  readonly drop: () => Promise<void>;
}

/**
 * The number of a PostgreSQL lock, chosen arbitrarily. Processes wait for this lock while one of them builds the
 * template.
 */
const TEMPLATE_LOCK = 4_507_232;

/**
 * Databases that this process has used, and emptied for reuse. Emptying the six tables that a test has filled takes a
 * fraction of the time that PostgreSQL takes to write the 400 files of a new database.
 */
const spares: string[] = [];

/**
 * A separate, migrated database without any rows. New ones are copied from a template, built once per set of
 * migrations.
 */
export async function tempDatabase(): Promise<TempDatabase> {
  const name = spares.pop() ?? (await newDatabase());
  return openDatabase(name, async () => {
    const spare = await toSpare(name);
    if (spare === undefined) await removeDatabase(name);
    else spares.push(spare);
  });
}

/** A fresh database without any tables. */
export async function emptyDatabase(): Promise<TempDatabase> {
  const name = await createDatabase("template0");
  return openDatabase(name, () => removeDatabase(name));
}

/** The server's own database, with the right to create others. */
function adminUrl(): string {
  const url = inject("databaseAdminUrl") ?? process.env["TEST_DATABASE_ADMIN_URL"];
  if (!url) throw new TypeError("There is no database server for tests: set TEST_DATABASE_ADMIN_URL");
  return url;
}

let kept: Sql | undefined;

/** A connection that this process keeps open, because PostgreSQL starts a process for each connection. */
function admin(): Sql {
  return (kept ??= connectAdmin());
}

function connectAdmin(url = adminUrl()): Sql {
  return connect(url, { maxConnections: 1, applicationName: "parley-test-admin", answerTimeoutMs: 0 });
}

function openDatabase(name: string, giveBack: () => Promise<unknown>): TempDatabase {
  const url = urlOf(name);
  const sql = connect(url, { maxConnections: 4 });
  let dropped: Promise<unknown> | undefined;
  const drop = async () => {
    dropped ??= sql.end({ timeout: 1 }).then(giveBack);
    await dropped;
  };
  return { url, sql, drop, [Symbol.asyncDispose]: drop };
}

let template: Promise<string> | undefined;

async function newDatabase(): Promise<string> {
  return createDatabase(await (template ??= buildTemplate()));
}

const newName = () => `parley_test_${nanoid()}`;

async function createDatabase(from: string): Promise<string> {
  const name = newName();
  const sql = admin();
  await sql`create database ${sql(name)} template ${sql(from)}`;
  return name;
}

async function removeDatabase(name: string): Promise<void> {
  const sql = admin();
  await sql`drop database if exists ${sql(name)} with (force)`;
}

/**
 * Prepares a used database for reuse: closes its connections, renames it so that no client finds it, and empties it.
 *
 * @returns the new name; undefined for a database that cannot be reused
 */
async function toSpare(name: string): Promise<string | undefined> {
  const spare = newName();
  const sql = admin();
  await sql`select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = ${name}`;
  const isRenamed = await sql`alter database ${sql(name)} rename to ${sql(spare)}`.then(
    () => true,
    // A client has connected again meanwhile.
    () => false,
  );
  if (!isRenamed) return undefined;
  if ((await emptied(spare)) === (await migratedForm())) return spare;
  await removeDatabase(spare);
  return undefined;
}

let form: Promise<string> | undefined;

/** The form (see `emptied`) of a migrated database that no test has changed. */
async function migratedForm(): Promise<string> {
  form ??= newDatabase().then(async (name) => {
    const found = await emptied(name);
    spares.push(name);
    return found;
  });
  return form;
}

/**
 * Empties all tables.
 *
 * @returns the database's form: a hash of its settings and of the names of all its objects
 */
async function emptied(name: string): Promise<string> {
  const sql = connectAdmin(urlOf(name));
  try {
    await sql.unsafe(EMPTY_TABLES);
    const [row] = await sql.unsafe<[{ form: string }]>(FORM);
    return row.form;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Deletes the rows of small tables, which takes PostgreSQL less than 1 ms; truncating these tables would take 66 ms. In
 * replica mode, no triggers run.
 */
const EMPTY_TABLES = `
  set session_replication_role = replica;
  do $$ declare used record; begin
    for used in select oid::regclass as name, pg_relation_size(oid) as bytes from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'parley_migrations'
    loop
      if used.bytes > 1000000 then execute 'truncate ' || used.name || ' cascade';
      elsif used.bytes > 0 then execute 'delete from ' || used.name;
      end if;
    end loop;
    perform setval(oid, 1, false) from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace;
  end $$`;

const FORM = `
  select md5(string_agg(name, ' ' order by name)) as form from (
    select relname as name from pg_class where oid >= 16384
    union all select proname from pg_proc where oid >= 16384
    union all select conname from pg_constraint where oid >= 16384
    union all select tgname from pg_trigger
    union all select attrelid || attname from pg_attribute where attrelid >= 16384
    union all select setconfig::text from pg_db_role_setting
      where setdatabase = (select oid from pg_database where datname = current_database())
  ) as names`;

/**
 * Builds the template under another name and renames it once complete, so that a killed run leaves nothing incomplete.
 */
async function buildTemplate(): Promise<string> {
  const name = `parley_template_${await migrationsHash()}`;
  // Uses a connection of its own, because closing the connection releases the lock.
  const sql = connectAdmin();
  try {
    await sql`select pg_advisory_lock(${TEMPLATE_LOCK})`;
    const [existing] = await sql`select 1 from pg_database where datname = ${name}`;
    if (existing) return name;
    const draft = `${name}_draft`;
    await sql`drop database if exists ${sql(draft)} with (force)`;
    await sql`create database ${sql(draft)} template template0`;
    await migrate(urlOf(draft));
    await sql`alter database ${sql(draft)} rename to ${sql(name)}`;
    return name;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function urlOf(name: string): string {
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return url.href;
}

async function migrationsHash(): Promise<string> {
  const hash = createHash("sha256");
  for (const { fileName } of await migrationFiles()) hash.update(await readFile(join(MIGRATION_FOLDER, fileName)));
  return hash.digest("hex").slice(0, 16);
}
