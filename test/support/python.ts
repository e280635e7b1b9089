import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { beforeAll, beforeEach, onTestFinished } from "vitest";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");
export const PACKAGE = join(ROOT, "clients/python");
const REQUIREMENTS = join(PACKAGE, "requirements-dev.txt");
/** Why the tests of the Python client are skipped. */
export const NO_PYTHON = "there is no python3 of version 3.11 or newer on this machine";
const CACHE_DIR = join(ROOT, ".cache/python-client");

const ABOUT = "import sys; print(sys.version_info >= (3, 11), sys.executable, repr(sys.version), sep='\\n')";

export interface Python {
  readonly command: string;
  /** The folder with the Python client's dependencies, without the client itself. */
  readonly packages: string;
  /** Variables for a Python process. PYTHONPATH includes the client's sources. */
  readonly env: NodeJS.ProcessEnv;
}

/**
 * A Python with the dependencies of our client and its tests, which are installed once for each `requirements-dev.txt`
 * and Python version. Undefined if this machine has no Python that the client supports.
 */
export async function preparePython(): Promise<Python | undefined> {
  const found = await run("python3", ["-c", ABOUT]).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  // The executable itself is used, because the `python3` on the PATH may be a script that searches for it on each
  // start.
  const [isNew, command = "python3", version = ""] = found?.stdout.trim().split("\n") ?? [];
  if (isNew !== "True") {
    process.stderr.write(`The Python client is not tested: ${NO_PYTHON}\n`);
    return undefined;
  }
  const key = createHash("sha256")
    .update(await readFile(REQUIREMENTS))
    .update(version)
    .digest("hex")
    .slice(0, 16);
  const packages = join(CACHE_DIR, key);
  // Uses a folder of packages instead of a virtual environment: the folder can be moved, and Python needs no `venv` for
  // it.
  const env = { PYTHONPATH: [join(PACKAGE, "src"), packages].join(delimiter), PYTHONDONTWRITEBYTECODE: "1" };
  const python = { command, packages, env };
  if (await stat(packages).catch(() => undefined)) return python;
  const unfinished = `${packages}.${process.pid}`;
  const environment = `${unfinished}.venv`;
  await mkdir(CACHE_DIR, { recursive: true });
  try {
    const hasEnvironment = await run(command, ["-m", "venv", environment]).then(
      () => true,
      () => false,
    );
    const installer = hasEnvironment ? join(environment, "bin/python") : command;
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", unfinished];
    await run(installer, [...install, "-r", REQUIREMENTS]);
    // Another run may have installed it first.
    await rename(unfinished, packages).catch(async (error: unknown) => {
      if (!(await stat(packages).catch(() => undefined))) throw error;
    });
  } finally {
    await Promise.all([environment, unfinished].map((path) => rm(path, { recursive: true, force: true })));
  }
  return python;
}

interface Program {
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Returns the Python for the tests in the calling file. Without a Python, the tests are skipped. */
export function pythonForFile(): () => Python | undefined {
  let python: Python | undefined;

  beforeAll(async () => {
    python = await preparePython();
  }, 300_000);

  beforeEach(({ skip }) => {
    if (!python) skip(NO_PYTHON);
  });

  return () => python;
}

/**
 * Starts a Python program as a separate process, and collects the lines that it writes. It is killed when the test
 * ends.
 */
export function startPython(python: Python | undefined, { args, env, cwd }: Program) {
  if (!python) throw new Error(NO_PYTHON);
  const child = spawn(python.command, args, {
    cwd,
    env: { ...process.env, ...python.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = { stdout: [] as string[], stderr: [] as string[] };
  createInterface(child.stdout).on("line", (line) => lines.stdout.push(line));
  createInterface(child.stderr).on("line", (line) => lines.stderr.push(line));
  const ended = once(child, "close").then(([code, signal]) => ({
    code: (code ?? signal) as number | NodeJS.Signals,
    ...lines,
  }));
  const kill = () => child.kill("SIGKILL");
  return { ...lines, ended, kill, type: (line: string) => child.stdin.write(`${line}\n`) };
}
