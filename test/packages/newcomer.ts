import { execFile, type ExecFileOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { givePackages } from "../../scripts/agents/give-packages.ts";
import { runInit } from "../../src/cli/init/run-init.ts";
import { VARIABLES } from "../../src/worker/settings/environment.ts";
import { freePortVariables, processesIn } from "../worker/support/run-main.ts";

export const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

type Manifest = Record<string, unknown> & Record<"dependencies" | "devDependencies", Record<string, string>>;

/** An agent that `parley start` runs. */
export interface RunningAgent {
  /** The agent's output once it was ready. */
  readonly ready: Readonly<Record<string, string>>;
  /** Presses Ctrl-C. Resolves to the processes that are left running. */
  readonly stop: () => Promise<readonly string[]>;
}

/** Simulates a newcomer who creates a first agent from this repository, in a folder outside of it. */
export class Newcomer implements AsyncDisposable {
  /** The packages, each in its own folder and as a tarball. */
  readonly built: string;
  /** A folder outside the checkout, so that nothing in the checkout can be imported by accident. */
  readonly place: string;
  /** The folder in which commands run. */
  agent: string;
  env: NodeJS.ProcessEnv;
  /** The packages' archives, as arguments for npm. */
  #specs: readonly string[] = [];

  private constructor(built: string, place: string, env: NodeJS.ProcessEnv) {
    this.built = built;
    this.place = place;
    this.agent = join(place, "my-agent");
    this.env = env;
  }

  /** Builds the packages, and creates an empty folder for the agent. Nothing is installed yet. */
  static async arrive(): Promise<Newcomer> {
    const place = await mkdtemp(join(tmpdir(), "parley-newcomer-"));
    const built = join(ROOT, ".cache", `packages-${process.pid}`);
    const env = {
      ...process.env,
      // Removes this machine's own settings and those of the test runner.
      ...Object.fromEntries(["NODE_ENV", ...Object.keys(VARIABLES)].map((name) => [name, undefined])),
      // Puts the Node that runs the tests first, for npm and for the programs that npm installs.
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
      PARLEY_CACHE_DIR: join(ROOT, ".cache"),
      LOG_LEVEL: "warn",
      ...(await freePortVariables()),
    };
    const newcomer = new Newcomer(built, place, env);
    await run(process.execPath, ["scripts/build-packages.ts", built], { cwd: ROOT, env });
    await newcomer.create("my-agent");
    return newcomer;
  }

  /**
   * Does what `npm run create` does before the installation: creates the agent's folder, which contains the packages'
   * archives.
   */
  async create(name: string): Promise<void> {
    this.agent = join(this.place, name);
    await runInit(this.agent);
    this.#specs = await givePackages(this.agent, this.built);
  }

  async tarball(name: string): Promise<string> {
    const found = (await readdir(this.built)).find((file) => new RegExp(`^${name}-\\d.*\\.tgz$`).test(file));
    return `file:${join(this.built, found ?? name)}`;
  }

  async editManifest(edit: (manifest: Manifest) => void): Promise<void> {
    const path = join(this.agent, "package.json");
    const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
    edit(manifest);
    await writeFile(path, JSON.stringify(manifest));
  }

  /** @returns the command's output. @throws {Error} with the whole output, if the command fails */
  async run(command: string, ...args: readonly string[]): Promise<string> {
    const options: ExecFileOptions = { cwd: this.agent, env: this.env, encoding: "utf8" };
    const { stdout } = await run(command, args, options).catch((error: unknown) => {
      const { stdout: output, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${command} ${args.join(" ")} failed:\n${output}\n${stderr}`, { cause: error });
    });
    return String(stdout);
  }

  /** Runs the command `parley` of the installed package. */
  async parley(...args: readonly string[]): Promise<string> {
    return this.run(join(this.agent, "node_modules/.bin/parley"), ...args);
  }

  /** Installs with npm, as `npm run create` does. */
  async install(): Promise<void> {
    await this.run("npm", "install", ...this.#specs, "--prefer-offline", "--no-audit", "--no-fund");
  }

  /** Installs what a page needs, in the checkout's versions. */
  async installPage(): Promise<void> {
    const { devDependencies: versions } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as Manifest;
    const names = ["react", "react-dom", "livekit-client", "typescript", "@types/react"];
    const packages = [await this.tarball("parley-client"), await this.tarball("parley-react")];
    const all = [...packages, ...names.map((name) => `${name}@${versions[name]}`)];
    await this.run("npm", "install", ...all, "--prefer-offline", "--no-audit", "--no-fund");
  }

  async start(...args: readonly string[]): Promise<RunningAgent> {
    const { agent, env } = this;
    const main = spawn(join(agent, "node_modules/.bin/parley"), [...args, "--json"], { cwd: agent, env });
    let said = "";
    main.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const exited = once(main, "exit");
    const [ready] = (await Promise.race([once(main.stdout, "data"), exited])) as [unknown];
    if (!Buffer.isBuffer(ready)) throw new Error(`It ended before it was ready:\n${said}`);
    const stop = async () => {
      main.kill("SIGINT");
      await exited;
      return processesIn(agent);
    };
    // Stops the agent even if the test has timed out, because the next test starts in the same folder.
    onTestFinished(async () => void (await stop()));
    return { ready: JSON.parse(ready.toString()) as Record<string, string>, stop };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const folder of [this.place, this.built]) await rm(folder, { recursive: true, force: true });
  }
}
