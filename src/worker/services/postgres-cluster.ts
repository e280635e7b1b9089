import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { runCommand } from "../process/start-program.ts";
import type { PostgresPrograms } from "./postgres-programs.ts";
import { giveTo, type PostgresUser } from "./postgres-user.ts";

export const DATABASE = "parley";
export const SUPERUSER = "parley";
/** The complete environment for PostgreSQL's programs. LC_ALL keeps their messages in English. */
const ENV: NodeJS.ProcessEnv = { LC_ALL: "C", PATH: process.env["PATH"] ?? "" };
/**
 * The path by which PostgreSQL's programs refer to the folder of the database files. The programs are started in that
 * folder, because its real path may lead through folders that the programs' user cannot enter (root's home, a folder
 * from `mktemp -d`).
 */
export const WORKING_FOLDER = process.platform === "linux" ? "/proc/self/cwd" : ".";

/** Returns the spawn options for PostgreSQL's programs that use the files in `folder`. */
export const placeOf = (folder: string, user: PostgresUser) => ({ env: ENV, cwd: folder, ...user });

interface ClusterOptions {
  readonly programs: PostgresPrograms;
  readonly user: PostgresUser;
  readonly password: string;
}

/**
 * Creates the database files if there are none. They are created in a draft folder and moved when complete, so that an
 * interrupted start does not leave an incomplete database behind.
 */
export async function ensureCluster(folder: string, { programs, user, password }: ClusterOptions): Promise<void> {
  if (await hasCluster(folder)) return;
  const draft = `${folder}.new`;
  const passwordFile = join(draft, ".password");
  const files = join(draft, "files");
  await rm(draft, { recursive: true, force: true });
  await mkdir(files, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  for (const path of [draft, passwordFile, files]) await giveTo(user, path);
  const where = placeOf(files, user);
  try {
    const settings = [
      `--pgdata=${WORKING_FOLDER}`,
      `--pwfile=${WORKING_FOLDER}/../.password`,
      `--username=${SUPERUSER}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
    ];
    await runCommand(programs.initdb, settings, where);
    const input = `CREATE DATABASE ${DATABASE};\n`;
    await runCommand(programs.postgres, ["--single", `-D${WORKING_FOLDER}`, "postgres"], { ...where, input });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError("unavailable", `PostgreSQL's data folder cannot be created in ${draft}: ${reason}`, {
      cause: error,
    });
  }
  await rename(files, folder);
  await rm(draft, { recursive: true, force: true });
}

async function hasCluster(folder: string): Promise<boolean> {
  try {
    await access(join(folder, "PG_VERSION"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw new AppError(
      "unavailable",
      `${folder} contains a database that another user created: start as that user, or set PARLEY_DATA_DIR to another folder`,
      { cause: error },
    );
  }
}
