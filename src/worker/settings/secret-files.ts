import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError } from "../../errors/app-error.ts";

/**
 * For each of `names` whose variable `NAME_FILE` is set, sets the variable `NAME` to that file's content, without
 * trailing newlines. Docker's official images use the same convention. Paths are relative to `cwd`.
 *
 * @throws {AppError} `invalid_config`, a line per problem, with the variable and the path but never the content
 */
export async function readSecretFiles(env: NodeJS.ProcessEnv, cwd: string, names: readonly string[]): Promise<void> {
  const problems: string[] = [];
  for (const name of names) {
    const fileVariable = `${name}_FILE`;
    const file = env[fileVariable];
    if (!file) continue;
    if (env[name]) {
      problems.push(`${name} and ${fileVariable} are both set. Set only one of them.`);
      continue;
    }
    try {
      env[name] = await readSecret(resolve(cwd, file));
      // The variable is emptied instead of deleted: host processes inherit the environment and load `.env` again, which
      // would set a deleted variable again. Then both variables would be set.
      env[fileVariable] = "";
    } catch (error) {
      problems.push(`${fileVariable}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new AppError("invalid_config", problems.join("\n"));
}

async function readSecret(path: string): Promise<string> {
  const content = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`cannot read ${path} (${error.code})`, { cause: error });
  });
  const value = content.replace(/(?:\r?\n)+$/, "");
  if (value === "") throw new Error(`${path} is empty`);
  return value;
}
