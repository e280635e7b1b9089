import { chown, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { runCommand } from "../process/run-command.ts";
import { findOnPath } from "./find-livekit-server.ts";

/** Runs PostgreSQL's programs as somebody who may: it refuses to be root. */
export interface PostgresUser {
  /** Puts what is needed before a command, and says whom to run it as. */
  readonly wrap: (command: string, args: readonly string[]) => WrappedCommand;
  readonly own: (path: string) => Promise<void>;
}

interface WrappedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Ourselves, unless we are root: then the user `postgres`, created when there is none. Folders that are closed to that
 * user (a clone below /root or in `mktemp -d`) are reached with the right to search closed folders, which is handed to
 * PostgreSQL alone; no folder's mode is changed.
 */
export async function choosePostgresUser(paths: readonly string[]): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return { wrap: (command, args) => ({ command, args }), own: async () => {} };
  const { uid, gid } = (await findUser("postgres")) ?? (await createUser());
  const own = (path: string) => chown(path, uid, gid);
  const closed = (await Promise.all(paths.map((path) => findClosedFolder(path, uid, gid)))).find(Boolean);
  if (closed === undefined) return { wrap: (command, args) => ({ command, args, uid, gid }), own };
  if ((await findOnPath("setpriv")) === undefined) {
    throw new AppError(
      "unavailable",
      `PostgreSQL runs as the user "postgres" here, who cannot enter ${closed}: set PARLEY_DATA_DIR and keep the clone in folders that are open to all, run as a normal user, or set DATABASE_URL`,
    );
  }
  const right = ["--inh-caps=+dac_override,+dac_read_search", "--ambient-caps=+dac_override,+dac_read_search"];
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  return { wrap: (command, args) => ({ command: "setpriv", args: [...identity, ...right, command, ...args] }), own };
}

async function findUser(name: string): Promise<{ uid: number; gid: number } | undefined> {
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n");
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

async function createUser(): Promise<{ uid: number; gid: number }> {
  try {
    await runCommand("useradd", ["--system", "--user-group", "--no-create-home", "postgres"]);
  } catch (error) {
    // Another start may have been quicker: what counts is that the user is there.
    if ((await findUser("postgres")) === undefined) {
      throw new AppError("unavailable", 'PostgreSQL does not run as root, and the user "postgres" cannot be created', {
        cause: error,
      });
    }
  }
  return (await findUser("postgres")) ?? createUser();
}

/** The first folder above `path` that this user may not enter. */
async function findClosedFolder(path: string, uid: number, gid: number): Promise<string | undefined> {
  const folder = dirname(path);
  if (folder === path) return undefined;
  const { mode, uid: owner, gid: group } = await stat(folder);
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  return (mode & bit) === 0 ? folder : findClosedFolder(folder, uid, gid);
}
