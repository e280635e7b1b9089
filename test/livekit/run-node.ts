import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs a module in a separate process, and returns its output. NODE_ENV is unset unless `env` contains it. */
export async function runNode(code: string, { env = {}, args = [] }: { env?: object; args?: readonly string[] } = {}) {
  const { NODE_ENV: _, ...inherited } = process.env;
  return run(process.execPath, [...args, "--input-type=module", "-e", code], { env: { ...inherited, ...env } });
}

/** Returns the URL of a file, for an import in the code that `runNode` runs. */
export const urlOf = (path: string): string => pathToFileURL(path).href;
