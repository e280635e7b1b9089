import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../process/run-command.ts";
import { type PostgresBinaries } from "./postgres-binaries.ts";
import { type PostgresUser } from "./postgres-user.ts";

export const DATABASE = "parley";
export const SUPERUSER = "parley";
/** Nothing of our environment is PostgreSQL's business; messages stay English. */
export const POSTGRES_ENV: NodeJS.ProcessEnv = { LC_ALL: "C", PATH: process.env["PATH"] ?? "" };

interface ClusterOptions {
  readonly binaries: PostgresBinaries;
  readonly user: PostgresUser;
  readonly password: string;
}

/**
 * Makes the database files, once. They are made beside their place and moved there when whole, so a start that was
 * killed half-way leaves nothing that a later one would take for a database.
 */
export async function ensureCluster(folder: string, { binaries, user, password }: ClusterOptions): Promise<void> {
  if (
    await access(join(folder, "PG_VERSION")).then(
      () => true,
      () => false,
    )
  )
    return;
  const draft = `${folder}.new`;
  const passwordFile = join(draft, ".password");
  const files = join(draft, "files");
  await rm(draft, { recursive: true, force: true });
  await mkdir(files, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  for (const path of [draft, passwordFile, files]) await user.own(path);
  const run = async (command: string, args: readonly string[], input?: string) => {
    const wrapped = user.wrap(command, args);
    const { uid, gid } = wrapped;
    await runCommand(wrapped.command, wrapped.args, {
      env: POSTGRES_ENV,
      cwd: draft,
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
      ...(input !== undefined && { input }),
    });
  };
  await run(binaries.initdb, [
    `--pgdata=${files}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
  ]);
  await run(binaries.postgres, ["--single", "-D", files, "postgres"], `CREATE DATABASE ${DATABASE};\n`);
  await rename(files, folder);
  await rm(draft, { recursive: true, force: true });
}
