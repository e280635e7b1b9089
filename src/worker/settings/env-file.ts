import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { AppError } from "../../errors/app-error.ts";

/**
 * Adds the variables of a `.env` file to `env`. Values already in `env` win. A secret and the path of its file (`NAME`,
 * `NAME_FILE`) count as one variable here: if `.env` sets the path, the environment can still override it with the
 * secret itself.
 *
 * @throws {AppError} `invalid_config` if the file exists but cannot be read, or if a quote is never closed
 */
export async function addEnvFile(env: NodeJS.ProcessEnv, path: string): Promise<void> {
  const content = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new AppError("invalid_config", `${path}: cannot be read (${error.code})`, { cause: error });
  });
  const given = { ...env };
  for (const [name, value] of Object.entries(parseEnv(content))) {
    checkQuotes(name, value ?? "", { content, path });
    const twin = name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`;
    if (!given[twin]) env[name] ??= value;
  }
}

/** Throws if the value's opening quote is never closed. In that case, the parsed value still starts with the quote. */
function checkQuotes(name: string, value: string, { content, path }: { content: string; path: string }): void {
  const line = content.split("\n").find((each) => each.replace(/^\s*(?:export\s+)?/u, "").startsWith(name));
  const [, quote] = /=\s*(["'`])/u.exec(line ?? "") ?? [];
  if (quote !== undefined && value.startsWith(quote))
    throw new AppError("invalid_config", `${path}: ${name}: the value begins with ${quote}, which is never closed`);
}
