import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "../../support/processes/run-in-our-environment.ts";
import { CACHE } from "./containers.ts";

const HEALTH_EVERY_MS = 1_000;

/** Starts podman's Docker API and its health checks, unless a Docker engine runs the tests. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env["PARLEY_COMPOSE"] === undefined) return undefined;
  const socket = join(CACHE, "run.sock");
  await rm(socket, { force: true });
  await removeContainers();
  const service = spawn("podman", ["system", "service", "--log-level", "fatal", "--time", "0", `unix://${socket}`], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  while (!existsSync(socket)) await sleep(50);
  process.env["DOCKER_HOST"] = `unix://${socket}`;
  const closing = new AbortController();
  const checks = checkHealth(closing.signal);
  return async () => {
    closing.abort();
    await checks;
    await removeContainers().finally(() => service.kill());
    await once(service, "exit");
  };
}

async function removeContainers(): Promise<void> {
  await runCommand("podman", ["rm", "--force", "--all", "--depend", "--volumes", "--time", "0"]);
}

/** Runs podman's health checks. podman relies on systemd for them, which containers and most test machines lack. */
async function checkHealth(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const ids = await runCommand("podman", [
      "ps",
      "--quiet",
      "--filter",
      "health=starting",
      "--filter",
      "health=healthy",
      "--filter",
      "health=unhealthy",
    ]).catch(() => "");
    await Promise.all(
      ids
        .split("\n")
        .filter(Boolean)
        .map((id) => runCommand("podman", ["healthcheck", "run", id]).catch(() => {})),
    );
    await sleep(HEALTH_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}
