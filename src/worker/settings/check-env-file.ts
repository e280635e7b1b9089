import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { didYouMean } from "../../lib/checks/did-you-mean.ts";
import { VARIABLES } from "./environment.ts";

const NOT_TABLED = ["RUST_LOG", "NODE_ENV", "PARLEY_RECORD", "PARLEY_JUDGE_MODEL"];

/**
 * A line for each thing of a `.env` file that is most likely misspelt: a name that is nearly one of Parley's, and a line that
 * sets nothing. No errors, because the file also holds variables of the author's own. Never shows a value.
 */
export async function checkEnvFile(path: string): Promise<string[]> {
  const content = await readFile(path, "utf8").catch(() => "");
  const names = [...Object.keys(VARIABLES), ...NOT_TABLED];
  const known = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  const unknown = Object.keys(parseEnv(content)).flatMap((name) => {
    const meant = known.has(name) ? "" : didYouMean(name, names);
    return meant === "" ? [] : [`${path}: ${name} is not a variable of Parley.${meant}`];
  });
  return [...unknown, ...linesThatSetNothing(content).map((line) => `${path}: line ${line} sets no variable`)];
}

/** Line numbers. Lines of a file with values of several lines are not looked at: they look alike. */
function linesThatSetNothing(content: string): number[] {
  const lines = content.split(/\r?\n/u);
  const isSetting = (line: string) => /^\s*(?:$|#|(?:export\s+)?[\w.-]+\s*=)/u.test(line);
  if (/=\s*(["'`])[^"'`]*\n/u.test(content)) return [];
  return lines.flatMap((line, index) => (isSetting(line) ? [] : [index + 1]));
}
