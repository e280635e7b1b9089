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
  /** Closes `sql` and removes the database, whoever is still connected. */
  readonly drop: () => Promise<void>;
}

/** Any number: workers queue here while one of them builds the template. */
const TEMPLATE_LOCK = 4_507_232;

/** A fresh, migrated database of one's own, copied from a template that is built once per set of migrations. */
export async function tempDatabase(): Promise<TempDatabase> {
  const template = `parley_template_${await migrationsHash()}`;
  const name = await withAdmin(async (admin) => {
    await buildTemplate(admin, template);
    return await createDatabase(admin, template);
  });
  return openDatabase(name);
}

/** A fresh database without any table. */
export async function emptyDatabase(): Promise<TempDatabase> {
  return openDatabase(await withAdmin((admin) => createDatabase(admin, "template0")));
}

/** The server's own database, with the right to create others. */
function adminUrl(): string {
  const url = inject("databaseAdminUrl") ?? process.env["TEST_DATABASE_ADMIN_URL"];
  if (!url) throw new TypeError("There is no database server for tests: set TEST_DATABASE_ADMIN_URL");
  return url;
}

function openDatabase(name: string): TempDatabase {
  const url = urlOf(name);
  const sql = connect(url, { maxConnections: 4 });
  const drop = async () => {
    await sql.end({ timeout: 1 });
    await withAdmin((admin) => admin`drop database if exists ${admin(name)} with (force)`);
  };
  return { url, sql, drop, [Symbol.asyncDispose]: drop };
}

async function createDatabase(admin: Sql, template: string): Promise<string> {
  const name = `parley_test_${nanoid()}`;
  await admin`create database ${admin(name)} template ${admin(template)}`;
  return name;
}

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
