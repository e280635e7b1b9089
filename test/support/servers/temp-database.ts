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
  /** Closes `sql` and every other connection; nothing is found by this address any more. */
  readonly drop: () => Promise<void>;
}

/** Any number: workers queue here while one of them builds the template. */
const TEMPLATE_LOCK = 4_507_232;

/**
 * Migrated databases of this process that were used, and are as new again. PostgreSQL writes 400 files for a new one; to
 * empty the six tables that a test has filled takes a fraction of that.
 */
const spares: string[] = [];

/** A migrated database of one's own, without any row. A new one is copied from a template, built once per set of migrations. */
export async function tempDatabase(): Promise<TempDatabase> {
  const name = spares.pop() ?? (await newDatabase());
  return openDatabase(name, async (admin) => {
    const spare = await toSpare(admin, name);
    if (spare === undefined) await removeDatabase(admin, name);
    else spares.push(spare);
  });
}

/** A fresh database without any table. */
export async function emptyDatabase(): Promise<TempDatabase> {
  const name = await withAdmin((admin) => createDatabase(admin, "template0"));
  return openDatabase(name, (admin) => removeDatabase(admin, name));
}

/** The server's own database, with the right to create others. */
function adminUrl(): string {
  const url = inject("databaseAdminUrl") ?? process.env["TEST_DATABASE_ADMIN_URL"];
  if (!url) throw new TypeError("There is no database server for tests: set TEST_DATABASE_ADMIN_URL");
  return url;
}

function openDatabase(name: string, giveBack: (admin: Sql) => Promise<unknown>): TempDatabase {
  const url = urlOf(name);
  const sql = connect(url, { maxConnections: 4 });
  let dropped: Promise<unknown> | undefined;
  const drop = async () => {
    dropped ??= sql.end({ timeout: 1 }).then(() => withAdmin(giveBack));
    await dropped;
  };
  return { url, sql, drop, [Symbol.asyncDispose]: drop };
}

async function newDatabase(): Promise<string> {
  const template = `parley_template_${await migrationsHash()}`;
  return withAdmin(async (admin) => {
    await buildTemplate(admin, template);
    return createDatabase(admin, template);
  });
}

const newName = () => `parley_test_${nanoid()}`;

async function createDatabase(admin: Sql, template: string): Promise<string> {
  const name = newName();
  await admin`create database ${admin(name)} template ${admin(template)}`;
  return name;
}

async function removeDatabase(admin: Sql, name: string): Promise<void> {
  await admin`drop database if exists ${admin(name)} with (force)`;
}

/**
 * Ends its connections, and takes its rows and its name away: whoever still knows the old name finds nothing.
 *
 * @returns the new name; undefined for a database that cannot be as new again
 */
async function toSpare(admin: Sql, name: string): Promise<string | undefined> {
  const spare = newName();
  await admin`select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = ${name}`;
  const isRenamed = await admin`alter database ${admin(name)} rename to ${admin(spare)}`.then(
    () => true,
    // Somebody has come back.
    () => false,
  );
  if (!isRenamed) return undefined;
  if ((await emptied(spare)) === (await migratedForm())) return spare;
  await removeDatabase(admin, spare);
  return undefined;
}

let form: Promise<string> | undefined;

/** The form of a database that no test has changed. */
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
 * @returns the form of the database: the names of all that is in it, and its settings
 */
async function emptied(name: string): Promise<string> {
  const sql = connect(urlOf(name), { maxConnections: 1, applicationName: "parley-test-admin", answerTimeoutMs: 0 });
  try {
    await sql.unsafe(EMPTY_TABLES);
    const [row] = await sql.unsafe<[{ form: string }]>(FORM);
    return row.form;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** To truncate small tables takes PostgreSQL 66 ms, to delete their rows less than one. As a replica it asks no trigger. */
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

/** Built under another name and renamed when complete, so a run that was killed leaves no half template. */
async function buildTemplate(admin: Sql, template: string): Promise<void> {
  await admin`select pg_advisory_lock(${TEMPLATE_LOCK})`;
  const [existing] = await admin`select 1 from pg_database where datname = ${template}`;
  if (!existing) {
    const draft = `${template}_draft`;
    await admin`drop database if exists ${admin(draft)} with (force)`;
    await admin`create database ${admin(draft)} template template0`;
    await migrate(urlOf(draft));
    await admin`alter database ${admin(draft)} rename to ${admin(template)}`;
  }
  await admin`select pg_advisory_unlock(${TEMPLATE_LOCK})`;
}

async function withAdmin<Result>(work: (admin: Sql) => PromiseLike<Result>): Promise<Result> {
  const admin = connect(adminUrl(), { maxConnections: 1, applicationName: "parley-test-admin", answerTimeoutMs: 0 });
  try {
    return await work(admin);
  } finally {
    await admin.end({ timeout: 1 });
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
