import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The output of a module that runs in a separate process. NODE_ENV is unset unless `env` contains it. */
export async function runNode(code: string, { env = {}, args = [] }: { env?: object; args?: readonly string[] } = {}) {
  const { NODE_ENV: _, ...inherited } = process.env;
  return run(process.execPath, [...args, "--input-type=module", "-e", code], { env: { ...inherited, ...env } });
}

/** The URL of a file, for an import in such a module. */
export const urlOf = (path: string): string => pathToFileURL(path).href;
