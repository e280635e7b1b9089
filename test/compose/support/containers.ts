import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { freemem } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../support/processes/run-in-our-environment.ts";

export const ROOT = join(import.meta.dirname, "../../..");
/** The folder for the images, containers and programs of these tests. */
export const CACHE = join(ROOT, ".cache/compose");

/** The folder of an agent, as `npm run create` creates it. */
export const AGENT = join(CACHE, "agent");

const COMPOSE = "github.com/docker/compose/v2";
const COMPOSE_VERSION = "v2.40.3";
const PROGRAMS = ["podman", "mmdebstrap", "crun", "netavark", "aardvark-dns", "catatonit", "iptables", "iproute2"];

/**
 * Variables for podman, which name its configuration files. These keep its images and containers in the cache, separate
 * from this machine's own. They also set limits on processes and open files, because podman raises these by default,
 * which some machines forbid.
 */
export const PODMAN_ENV = {
  CONTAINERS_CONF: join(CACHE, "containers.conf"),
  CONTAINERS_STORAGE_CONF: join(CACHE, "storage.conf"),
  // podman does not support BuildKit's protocol.
  DOCKER_BUILDKIT: "0",
} as const;
export const composeBinary = join(CACHE, `docker-compose-${COMPOSE_VERSION}`);

const STORAGE = join(CACHE, "storage");
/**
 * The size of the memory that holds containers and images, if enough is free. Memory is used because the tests write
 * and delete many thousands of files at a time.
 */
const STORAGE_BYTES = 8e9;

/** Folders in which podman and its DNS server keep state that is valid only while their processes run. */
const RUN_FOLDERS = ["/run/containers", "/run/libpod", "/run/parley-compose"];

/**
 * Wraps a command in namespaces in which podman can run. If both versions of cgroups are mounted, one is unmounted
 * there, because podman's runtime, crun, does not run with both. podman's storage is in memory if enough is free. When
 * the command or this process ends, even by a signal, the namespaces disappear with all containers and their state, so
 * nothing is left to disturb the next run.
 */
export function withPodman(command: readonly string[]): readonly [string, ...string[]] {
  const inMemory =
    freemem() > 1.5 * STORAGE_BYTES ? `mount -t tmpfs -o size=${STORAGE_BYTES} tmpfs "${STORAGE}"; ` : "";
  const ownFolders = RUN_FOLDERS.map((folder) => `mkdir -p ${folder}; mount -t tmpfs tmpfs ${folder}; `).join("");
  const script = `umount /sys/fs/cgroup/unified 2>/dev/null; ${inMemory}${ownFolders}"$@"; exit $?`;
  const namespaces = ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"];
  // The shell stays as the namespace's first process, and reaps orphaned processes.
  return ["setpriv", "--pdeathsig", "KILL", "unshare", ...namespaces, "sh", "-c", script, "sh", ...command];
}

/**
 * Wraps a command in a separate network namespace with only a loopback interface, where all ports are free.
 *
 * A podman bridge has the lowest hardware address of its containers, so its address may change when a container starts
 * or stops. Without `arp_notify`, which announces the change, the other containers would send to the old address for up
 * to a minute.
 */
export function inOwnNetwork(command: readonly string[]): readonly [string, ...string[]] {
  const script = 'ip link set lo up; echo 1 >/proc/sys/net/ipv4/conf/all/arp_notify; exec "$@"';
  return ["unshare", "--net", "sh", "-c", script, "sh", ...command];
}

/** Whether a Docker engine runs here. */
export async function hasDocker(): Promise<boolean> {
  return runCommand("docker", ["info"]).then(
    () => true,
    () => false,
  );
}

/** The reason why no container can run here, or undefined. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "neither a Docker engine nor the rights of root";
  const [command, ...args] = withPodman(inOwnNetwork(["true"]));
  await mkdir(STORAGE, { recursive: true });
  return runCommand(command, args).then(
    () => undefined,
    () => "no Docker engine, and no namespaces for podman",
  );
}

/**
 * Installs podman and its parts from Debian's packages, and builds Docker Compose with Go, unless they are there
 * already.
 */
export async function installPodman(): Promise<void> {
  await mkdir(STORAGE, { recursive: true });
  await writeFile(
    PODMAN_ENV.CONTAINERS_CONF,
    `[containers]
default_ulimits = ["nofile=16384:16384", "nproc=32768:32768"]
# Of builds: they install packages. Compose names the networks of all that runs.
netns = "host"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "${join(CACHE, "networks")}"
`,
  );
  await writeFile(
    PODMAN_ENV.CONTAINERS_STORAGE_CONF,
    `[storage]
driver = "overlay"
graphroot = "${STORAGE}"
runroot = "/run/parley-compose"
`,
  );
  await installDebianPackages();
  if (!existsSync(composeBinary)) await buildCompose();
}

async function installDebianPackages(): Promise<void> {
  const isThere = await runCommand("dpkg", ["--status", ...PROGRAMS]).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const flags = ["--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
  const install = () => runCommand("apt-get", ["install", ...flags, ...PROGRAMS]);
  await install().catch(async () => {
    // The first attempt fails on a fresh machine, which has no package lists.
    await runCommand("apt-get", ["update"]);
    await install();
  });
}

/**
 * Builds Docker Compose in a module of its own. `go install` would refuse it, because its go.mod contains exclusions.
 */
async function buildCompose(): Promise<void> {
  const folder = join(CACHE, "build-compose");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "go.mod"), "module build-compose\n");
  const place = { cwd: folder };
  await runCommand("go", ["get", `${COMPOSE}/cmd@${COMPOSE_VERSION}`], place);
  const flags = ["-trimpath", "-ldflags", `-s -w -X ${COMPOSE}/internal.Version=${COMPOSE_VERSION}`];
  await runCommand("go", ["build", ...flags, "-o", "docker-compose", `${COMPOSE}/cmd`], place);
  await rename(join(folder, "docker-compose"), composeBinary);
  await rm(folder, { recursive: true });
}
