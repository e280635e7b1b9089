import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { didYouMean, isOneTypoFrom } from "../../lib/checks/did-you-mean.ts";
import { VARIABLES } from "./environment.ts";

/** More known variables, which Node, LiveKit's native library, test kits or Parley's own processes read. */
const NOT_TABLED = [
  "RUST_LOG",
  "NODE_ENV",
  "PARLEY_DEVELOPMENT",
  "PARLEY_RECORD",
  "PARLEY_JUDGE_MODEL",
  "PARLEY_METRICS_HUB",
  "PARLEY_RELOADS",
  "PARLEY_SESSION_HOST",
  "PARLEY_SPEECH_SOCKET",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
];
const NAMES = [...Object.keys(VARIABLES), ...NOT_TABLED];
const KNOWN: ReadonlySet<string> = new Set(NAMES.flatMap((name) => [name, `${name}_FILE`]));
/**
 * Matches variables that Kubernetes and Docker add to each container for a service. The service may be named parley or
 * livekit.
 */
const OF_A_SERVICE = /_(?:SERVICE_(?:HOST|PORT\w*)|PORT(?:_\d+_\w+)?)$/u;

/**
 * Returns a line for each environment variable that is probably misspelled: an unknown `PARLEY_…`, or a name that is
 * one typo away from a Parley variable. The environment also contains other programs' variables, so the check is less
 * strict than for `.env`.
 */
export function checkEnvironment(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => !KNOWN.has(name) && !OF_A_SERVICE.test(name))
    .filter((name) => name.startsWith("PARLEY_") || isOneTypoFrom(name, NAMES))
    .map((name) => `environment: ${name} is not a Parley variable.${didYouMean(name, NAMES)}`);
}

/**
 * Returns a line for each probable mistake in a `.env` file: a name close to a Parley variable, or a line that sets no
 * variable. These are not errors, because the file may also contain the author's own variables. Never shows a value.
 */
export async function checkEnvFile(path: string): Promise<string[]> {
  const content = await readFile(path, "utf8").catch(() => "");
  const unknown = Object.keys(parseEnv(content)).flatMap((name) => {
    const meant = KNOWN.has(name) ? "" : didYouMean(name, NAMES);
    return meant === "" ? [] : [`${path}: ${name} is not a Parley variable.${meant}`];
  });
  return [...unknown, ...linesThatSetNothing(content).map((line) => `${path}: line ${line} sets no variable`)];
}

/**
 * Returns the numbers of the lines that set no variable. A file with multi-line values is not checked, because the
 * lines within such a value set nothing either.
 */
function linesThatSetNothing(content: string): number[] {
  const lines = content.split(/\r?\n/u);
  const isSetting = (line: string) => /^\s*(?:$|#|(?:export\s+)?[\w.-]+\s*=)/u.test(line);
  if (/=\s*(["'`])[^"'`]*\n/u.test(content)) return [];
  return lines.flatMap((line, index) => (isSetting(line) ? [] : [index + 1]));
}

/**
 * Runs `checkEnvFile` and `checkEnvironment`. A variable that is set in `.env` is reported only once, with the file's
 * name.
 */
export async function checkVariables(path: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const ofFile = await checkEnvFile(path);
  const isReported = (name: string) => ofFile.some((line) => line.startsWith(`${path}: ${name} `));
  return [
    ...ofFile,
    ...checkEnvironment(Object.fromEntries(Object.entries(env).filter(([name]) => !isReported(name)))),
  ];
}
