import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { runCommand } from "./processes/run-in-our-environment.ts";

const CACHE = join(import.meta.dirname, "../../.cache");

interface GoModule {
  readonly module: string;
  readonly version: string;
}

/**
 * Returns the path of a program, which Go builds once from its source into the cache.
 *
 * @param main the import path of the program's main package, inside its module
 * @throws {Error} with Go's output
 */
export function goProgram({ main, version }: { readonly main: string; readonly version: string }): Promise<string> {
  const [name = ""] = main
    .split("/")
    .filter((part) => !/^v\d+$/u.test(part))
    .slice(-1);
  return cached(`${name}-${version}/${name}`, async (folder) => {
    await runGo(["install", `${main}@${version}`], { GOBIN: folder });
    return join(folder, name);
  });
}

/** Returns the path of a copy of one file in a Go module, which is downloaded once. @throws {Error} with Go's output */
export function goModuleFile({ module, version, path }: GoModule & { readonly path: string }): Promise<string> {
  return cached(`${module.replaceAll("/", "-")}-${version}/${basename(path)}`, async (folder) => {
    const { Dir } = JSON.parse(await runGo(["mod", "download", "-json", `${module}@${version}`])) as { Dir: string };
    const copy = join(folder, basename(path));
    await copyFile(join(Dir, path), copy);
    return copy;
  });
}

/**
 * Returns the path of a file in the cache, and creates the file if it is missing.
 *
 * @param make creates the file in a temporary folder, and returns its path there
 */
async function cached(name: string, make: (folder: string) => Promise<string>): Promise<string> {
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  await mkdir(dirname(path), { recursive: true });
  const folder = await mkdtemp(`${dirname(path)}-`);
  try {
    await rename(await make(folder), path);
    return path;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runGo(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  return runCommand("go", args, { env: { ...process.env, ...env } }).catch((error: unknown) => {
    throw new Error(`This test needs Go (https://go.dev/dl), and Go's module proxy once: ${String(error)}`, {
      cause: error,
    });
  });
}
