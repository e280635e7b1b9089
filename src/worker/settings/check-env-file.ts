import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { didYouMean, isOneSlipFrom } from "../../lib/checks/did-you-mean.ts";
import { VARIABLES } from "./environment.ts";

/** Read by Node, by LiveKit's native part, by test kits, or by Parley's own processes. */
const NOT_TABLED = [
  "RUST_LOG",
  "NODE_ENV",
  "PARLEY_RECORD",
  "PARLEY_JUDGE_MODEL",
  "PARLEY_METRICS_HUB",
  "PARLEY_RELOADS",
  "PARLEY_SESSION_HOST",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
];
const NAMES = [...Object.keys(VARIABLES), ...NOT_TABLED];
const KNOWN: ReadonlySet<string> = new Set(NAMES.flatMap((name) => [name, `${name}_FILE`]));
/** What Kubernetes and Docker add to each container for a service, which may be called parley or livekit. */
const OF_A_SERVICE = /_(?:SERVICE_(?:HOST|PORT\w*)|PORT(?:_\d+_\w+)?)$/u;

/**
 * A line for each variable of the environment that is most likely misspelt: an unknown one of `PARLEY_…`, and one that is a
 * single slip away from a name of Parley's. An environment holds much of others, so it is judged less strictly than `.env`.
 */
export function checkEnvironment(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => !KNOWN.has(name) && !OF_A_SERVICE.test(name))
    .filter((name) => name.startsWith("PARLEY_") || isOneSlipFrom(name, NAMES))
    .map((name) => `environment: ${name} is not a variable of Parley.${didYouMean(name, NAMES)}`);
}

/**
 * A line for each thing of a `.env` file that is most likely misspelt: a name that is nearly one of Parley's, and a line that
 * sets nothing. No errors, because the file also holds variables of the author's own. Never shows a value.
 */
export async function checkEnvFile(path: string): Promise<string[]> {
  const content = await readFile(path, "utf8").catch(() => "");
  const unknown = Object.keys(parseEnv(content)).flatMap((name) => {
    const meant = KNOWN.has(name) ? "" : didYouMean(name, NAMES);
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

/** The same of both: what `.env` names is told once, with its file. */
export async function checkVariables(path: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const ofFile = await checkEnvFile(path);
  const isTold = (name: string) => ofFile.some((line) => line.startsWith(`${path}: ${name} `));
  return [...ofFile, ...checkEnvironment(Object.fromEntries(Object.entries(env).filter(([name]) => !isTold(name))))];
}
