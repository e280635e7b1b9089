import { execFile, spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { DOWNLOADS, programEnvironment } from "../../tool/program-environment.ts";
import { findOnPath } from "./find-on-path.ts";
import { LIVEKIT_VERSION } from "./livekit-cache.ts";
import type { ReportProgress } from "./service.ts";
import { SilenceLimit } from "./silence-limit.ts";

const IMAGE = `docker.io/livekit/livekit-server:v${LIVEKIT_VERSION}`;
const CLIENTS = ["docker", "podman"];
const ANSWERS_WITHIN_MS = 3_000;
/** Variables with which docker and podman find their engine, their settings and the registry. */
const CLIENT_SETTINGS = [
  ...DOWNLOADS,
  ..."DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY DOCKER_API_VERSION".split(" "),
  ..."CONTAINER_HOST CONTAINER_CONNECTION CONTAINERS_CONF CONTAINERS_STORAGE_CONF".split(" "),
  ..."CONTAINERS_REGISTRIES_CONF REGISTRY_AUTH_FILE".split(" "),
  ..."XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME DBUS_SESSION_BUS_ADDRESS".split(" "),
];
const RESTRICTIONS = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
/** What podman prints before the registry has answered. */
const IS_TRYING = /^Trying to pull/u;

const run = (client: string, ...args: readonly string[]) =>
  promisify(execFile)(client, args, { env: programEnvironment(...CLIENT_SETTINGS), timeout: ANSWERS_WITHIN_MS });

/** Returns the path of docker or podman, whichever is on PATH and has an engine that answers. */
export async function findContainerClient(): Promise<string | undefined> {
  for (const name of CLIENTS) {
    const client = await findOnPath(name);
    if (client !== undefined && (await succeeds(run(client, "version")))) return client;
  }
  return undefined;
}

/**
 * Returns the path of docker or podman once it has livekit-server's image. Pulls the image if it is missing.
 *
 * @throws {Error} if neither program works here, or if the registry does not answer within three seconds
 */
export async function pullLivekitImage(progress: ReportProgress): Promise<string> {
  const client = await findContainerClient();
  if (client === undefined) throw new Error("neither Docker nor Podman runs here");
  if (await succeeds(run(client, "image", "inspect", IMAGE))) return client;
  progress(`pulling ${IMAGE} with ${client} (once)`);
  await pull(client);
  return client;
}

/** Only the registry's first answer has a limit: without a terminal, a client prints nothing while a layer downloads. */
async function pull(client: string): Promise<void> {
  using limit = new SilenceLimit();
  const ended = Promise.withResolvers<number | null>();
  const child = spawn(client, ["pull", IMAGE], {
    env: programEnvironment(...CLIENT_SETTINGS),
    stdio: ["ignore", "pipe", "pipe"],
    signal: limit.signal,
    killSignal: "SIGKILL",
  });
  let lastLine = "";
  const onLine = (line: string) => {
    lastLine = line;
    if (!IS_TRYING.test(line)) limit[Symbol.dispose]();
  };
  for (const output of [child.stdout, child.stderr]) createInterface({ input: output }).on("line", onLine);
  child.once("error", ended.reject);
  child.once("close", ended.resolve);
  const code = await ended.promise.catch((error: unknown) => {
    throw limit.signal.aborted ? new Error("the registry does not answer", { cause: error }) : error;
  });
  if (code !== 0) throw new Error(`${client} pull failed: ${lastLine}`);
}

const containerFileOf = (dataDir: string) => join(dataDir, "livekit-server.container");

/**
 * Returns the command that runs livekit-server in a container until the command gets a signal. Its ports are published
 * on loopback only. It gets its config as a variable, because an engine in a virtual machine may not see our files.
 */
export function containerCommand(
  client: string,
  { dataDir, port, config }: { readonly dataDir: string; readonly port: number; readonly config: string },
) {
  const ports = ["--publish", `127.0.0.1:${port}:${port}`, "--publish", `127.0.0.1:${port + 1}:${port + 1}/udp`];
  const variables = ["--env", "LIVEKIT_CONFIG"];
  return {
    command: client,
    args: ["run", "--rm", "--cidfile", containerFileOf(dataDir), ...RESTRICTIONS, ...ports, ...variables, IMAGE],
    env: { ...programEnvironment(...CLIENT_SETTINGS), LIVEKIT_CONFIG: config },
  };
}

/** Removes the container that was started for this data folder and outlived its command, if there is one. */
export async function removeContainer(dataDir: string): Promise<void> {
  const file = containerFileOf(dataDir);
  const id = await readFile(file, "utf8").catch(() => "");
  if (id === "") return;
  for (const name of CLIENTS) {
    const client = await findOnPath(name);
    if (client !== undefined) await succeeds(run(client, "rm", "--force", id.trim()));
  }
  await rm(file, { force: true });
}

async function succeeds(command: Promise<unknown>): Promise<boolean> {
  return command.then(
    () => true,
    () => false,
  );
}
