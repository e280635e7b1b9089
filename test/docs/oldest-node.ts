import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { README, ROOT } from "./readme-blocks.ts";

/** The npm version that Node 20.19.0 includes. */
const NPM = "10.8.2";

/** The version of the oldest Node that the README allows, such as `20.19.0`. */
export function oldestNode(): string {
  const [, version] = /Node (\d+\.\d+) or newer/.exec(README) ?? [];
  if (version === undefined) throw new Error("README.md does not name the oldest Node");
  return `${version}.0`;
}

/** The folder with `node`, `npm` and `npx` of the oldest Node. They are downloaded from npm once, into the cache. */
export async function fetchOldestNode(): Promise<string> {
  const folder = join(ROOT, ".cache", `node-${oldestNode()}`);
  const programs = join(folder, "node_modules/.bin");
  if (!existsSync(join(programs, "npm"))) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
    await promisify(execFile)("npm", ["install", `node@${oldestNode()}`, `npm@${NPM}`], { cwd: folder });
  }
  return programs;
}
