import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const REQUIREMENTS = join(ROOT, "examples/python-client/requirements.txt");
const CACHE_DIR = join(ROOT, ".cache/python-client");

export interface Python {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A Python with the example's packages, installed once for each `requirements.txt` and version; undefined without a python3. */
export async function preparePython(): Promise<Python | undefined> {
  const version = await run("python3", ["-c", "import sys; print(sys.version)"]).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    },
  );
  if (!version) {
    process.stderr.write("The Python client is not tested: there is no python3 on this machine\n");
    return undefined;
  }
  const key = createHash("sha256")
    .update(await readFile(REQUIREMENTS))
    .update(version.stdout)
    .digest("hex")
    .slice(0, 16);
  const folder = join(CACHE_DIR, key);
  // A folder of packages, not the environment itself: it may be moved, and a Python without `venv` can use it.
  const python = { command: "python3", env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" } };
  if (await stat(folder).catch(() => undefined)) return python;
  const unfinished = `${folder}.${process.pid}`;
  const environment = `${unfinished}.venv`;
  await mkdir(CACHE_DIR, { recursive: true });
  try {
    const hasEnvironment = await run("python3", ["-m", "venv", environment]).then(
      () => true,
      () => false,
    );
    const command = hasEnvironment ? join(environment, "bin/python") : "python3";
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", unfinished];
    await run(command, [...install, "-r", REQUIREMENTS]);
    // Another run may have been faster.
    await rename(unfinished, folder).catch(async (error: unknown) => {
      if (!(await stat(folder).catch(() => undefined))) throw error;
    });
  } finally {
    await Promise.all([environment, unfinished].map((path) => rm(path, { recursive: true, force: true })));
  }
  return python;
}
