import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a module prints that runs in a process of its own; NODE_ENV is what it names, and else absent. */
export async function runNode(code: string, { env = {}, args = [] }: { env?: object; args?: readonly string[] } = {}) {
  const { NODE_ENV: _, ...inherited } = process.env;
  return run(process.execPath, [...args, "--input-type=module", "-e", code], { env: { ...inherited, ...env } });
}

/** For an import in such a module. */
export const urlOf = (path: string): string => pathToFileURL(path).href;
