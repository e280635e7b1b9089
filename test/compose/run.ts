import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endWithRun } from "../support/processes/end-with-run.ts";
import {
  AGENT,
  CACHE,
  composeBinary,
  hasDocker,
  inOwnNetwork,
  installPodman,
  PODMAN_ENV,
  ROOT,
  whyNoContainers,
  withPodman,
} from "./support/containers.ts";
import { imagesInUse } from "./support/images.ts";
import { makeStandIns } from "./support/stand-ins.ts";

// npm run test:compose: builds the images, starts the compose files and tests the running services. Uses a Docker
// engine if there is one, otherwise podman in a separate network, where the compose files' ports are free.

const INSIDE = "PARLEY_INSIDE";
const VITEST = [process.execPath, join(ROOT, "node_modules/vitest/vitest.mjs"), "run"];
const COMPOSE_TESTS = [...VITEST, "--config", "test/compose/vitest.config.ts", ...process.argv.slice(2)];
const progress = (line: string) => process.stderr.write(`test:compose: ${line}\n`);

process.exitCode = process.env[INSIDE] === undefined ? await main() : await mainInside();

async function main(): Promise<number> {
  // This also ends the processes in podman's namespaces.
  endWithRun();
  if (await hasDocker()) {
    await createAgent();
    return run(COMPOSE_TESTS);
  }
  const reason = await whyNoContainers();
  if (reason !== undefined) {
    progress(`no containers here (${reason}): each stage of the Dockerfile runs in a folder instead`);
    return run([...VITEST, "test/worker/image-stages.system.test.ts"]);
  }
  progress("no Docker engine here: podman runs the containers");
  await installPodman();
  return run(withPodman([process.execPath, import.meta.filename, ...process.argv.slice(2)]), { [INSIDE]: "1" });
}

async function mainInside(): Promise<number> {
  await makeStandIns(await imagesInUse());
  await createAgent();
  await buildImages([ROOT, AGENT]);
  return run(inOwnNetwork(COMPOSE_TESTS), { ...PODMAN_ENV, PARLEY_COMPOSE: composeBinary });
}

async function createAgent(): Promise<void> {
  await rm(AGENT, { recursive: true, force: true });
  await runOrThrow(["npm", "run", "--silent", "create", "--", AGENT], { npm_config_prefer_offline: "true" });
}

/**
 * Builds the images with this machine's network, because the tests' own network reaches no registry. When the tests
 * build the images again, podman finds each step in its cache.
 */
async function buildImages(folders: readonly string[]): Promise<void> {
  const socket = join(CACHE, "build.sock");
  await rm(socket, { force: true });
  const service = start(
    ["podman", "system", "service", "--log-level", "fatal", "--time", "0", `unix://${socket}`],
    PODMAN_ENV,
  );
  try {
    while (!existsSync(socket)) await sleep(50);
    for (const folder of folders) {
      progress(`building the image of ${folder} (one to two minutes)`);
      const env = { ...PODMAN_ENV, DOCKER_HOST: `unix://${socket}` };
      await runOrThrow([composeBinary, "--project-directory", folder, "build", "worker"], env);
    }
  } finally {
    service.kill();
    await once(service, "exit");
  }
}

async function runOrThrow(command: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const code = await run(command, env);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with code ${code}`);
}

async function run(command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const [code] = (await once(start(command, env), "exit")) as [number | null];
  return code ?? 1;
}

function start([command = "", ...args]: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(command, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: "inherit" });
}
