import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../support/processes/run-in-our-environment.ts";
import { ROOT } from "./containers.ts";

/**
 * Whether podman runs the containers, in a separate network. Otherwise a Docker engine runs them in this machine's
 * network.
 */
export const isPodman = process.env["PARLEY_COMPOSE"] !== undefined;
export const HTTP = "http://127.0.0.1:8080";
/** The worker's default `TOKEN_SECRET` in docker-compose.yml, where anybody can read it. */
export const DEVELOPMENT_SECRET = "development-secret-that-everybody-knows";

interface ProjectOptions {
  /** The folder with the project's docker-compose.yml. */
  readonly folder?: string;
  /** More compose files, as paths in the folder. */
  readonly files?: readonly string[];
  /** The lines of the project's `.env`. */
  readonly env?: string;
}

/** A compose project, used as if somebody typed `docker compose` in its folder. */
export class Project implements AsyncDisposable {
  readonly folder: string;
  /** A folder for the PATH. The `docker` command in it runs `docker compose` with this project's files. */
  readonly #bin: string;

  private constructor(folder: string, bin: string) {
    this.folder = folder;
    this.#bin = bin;
  }

  static async create({ folder = ROOT, files = [], env = "" }: ProjectOptions = {}): Promise<Project> {
    const bin = await mkdtemp(join(tmpdir(), "parley-compose-"));
    await writeFile(join(bin, ".env"), env);
    const all = ["docker-compose.yml", ...files].map((file) => `--file '${join(folder, file)}'`);
    const { PARLEY_COMPOSE = "docker compose" } = process.env;
    const script = `#!/bin/sh\nshift\nexec ${PARLEY_COMPOSE} --env-file ${join(bin, ".env")} ${all.join(" ")} "$@"\n`;
    await writeFile(join(bin, "docker"), script, { mode: 0o755 });
    return new Project(folder, bin);
  }

  /** Replaces the lines of `.env` for services started from now on. */
  async setEnv(lines: string): Promise<void> {
    await writeFile(join(this.#bin, ".env"), lines);
  }

  /** Runs `docker compose …`. @returns what it prints on stdout. @throws {Error} with its output */
  async compose(...args: readonly string[]): Promise<string> {
    return this.#run(join(this.#bin, "docker"), ["compose", ...args]);
  }

  /** Runs lines from a page as if they were typed in the project's folder. */
  async shell(lines: string): Promise<string> {
    return this.#run("sh", ["-ec", lines]);
  }

  async #run(command: string, args: readonly string[]): Promise<string> {
    const { PATH, HOME, DOCKER_HOST, DOCKER_BUILDKIT, CONTAINERS_CONF, CONTAINERS_STORAGE_CONF } = process.env;
    // Passes on none of this machine's other variables, because they would override the project's `.env`.
    const engineEnv = { HOME, DOCKER_HOST, DOCKER_BUILDKIT, CONTAINERS_CONF, CONTAINERS_STORAGE_CONF };
    return runCommand(command, args, { cwd: this.folder, env: { ...engineEnv, PATH: `${this.#bin}:${PATH}` } });
  }

  /** The ids of a service's containers. */
  async containers(service: string): Promise<string[]> {
    return (await this.compose("ps", "--all", "--quiet", service)).split("\n").filter(Boolean);
  }

  /**
   * Kills a container's main process, as the kernel does when memory runs out. Docker would not restart the container
   * after `docker kill`, because it counts that as a stop.
   */
  async kill(service: string): Promise<void> {
    const [id = ""] = await this.containers(service);
    process.kill(Number(await engine("inspect", "--format", "{{.State.Pid}}", id)), "SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.compose("down", "--volumes", "--remove-orphans", "--timeout", "1");
    await rm(this.#bin, { recursive: true });
  }
}

/** After a failed test, prints the last log lines of the project's containers. */
export async function showLogs(project: Project, state: string | undefined): Promise<void> {
  if (state !== "fail") return;
  const logs = await project.compose("logs", "--tail", "300").catch(String);
  process.stderr.write(`${await project.compose("ps", "--all").catch(String)}\n${logs}\n`);
}

/** Runs `docker …`, or the same command with podman. */
export async function engine(...args: readonly string[]): Promise<string> {
  return (await runCommand(isPodman ? "podman" : "docker", args)).trim();
}

export async function fetchToken(room: string, identity: string, secret = DEVELOPMENT_SECRET) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${secret}` };
  const response = await fetch(`${HTTP}/token`, { method: "POST", headers, body: JSON.stringify({ room, identity }) });
  if (!response.ok) throw new Error(`POST /token answers ${response.status}: ${await response.text()}`);
  return (await response.json()) as { readonly token: string; readonly livekitUrl: string };
}
