import { chown, readFile, stat } from "node:fs/promises";
import { AppError } from "../../errors/app-error.ts";
import { runCommand } from "../process/start-program.ts";

/** The user for PostgreSQL's programs, which refuse to run as root. `undefined` means our own user. */
export type PostgresUser = { readonly uid: number; readonly gid: number } | undefined;

/**
 * Returns our own user, unless we are root. As root, returns the owner of the database files, so that a normal user's
 * files can still be used. If there are no such files, or root owns them, returns the user `postgres`, which is created
 * if needed.
 */
export async function choosePostgresUser(cluster: string): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return undefined;
  const files = await stat(cluster).catch(() => undefined);
  if (files !== undefined && files.uid !== 0) return { uid: files.uid, gid: files.gid };
  return (await findUser("postgres")) ?? (await createUser());
}

export async function giveTo(user: PostgresUser, path: string): Promise<void> {
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

async function findUser(name: string): Promise<PostgresUser> {
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n");
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

async function createUser(): Promise<PostgresUser> {
  try {
    await runCommand("useradd", ["--system", "--user-group", "--no-create-home", "postgres"]);
  } catch (error) {
    // Another start may have created the user first.
    if ((await findUser("postgres")) === undefined) {
      throw new AppError("unavailable", 'PostgreSQL does not run as root, and the user "postgres" cannot be created', {
        cause: error,
      });
    }
  }
  return (await findUser("postgres")) ?? createUser();
}
