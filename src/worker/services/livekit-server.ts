import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { programEnvironment } from "../../tool/program-environment.ts";
import { endStaleServer, startServer, type RunningServer } from "../process/start-program.ts";
import { containerCommand, removeContainer } from "./livekit-image.ts";
import { provideLivekitServer } from "./provide-livekit-server.ts";
import { readOrCreateSecret } from "./secret-file.ts";
import type { ReportProgress } from "./service.ts";

interface LivekitKeys {
  readonly apiKey: string;
  readonly apiSecret: string;
}

interface LivekitOptions {
  readonly dataDir: string;
  readonly cacheDir: string;
  /** The port for signaling. The next port is for media, over UDP. */
  readonly port: number;
  /** Keys from the environment. If absent, keys are generated once and stored in the data folder. */
  readonly keys?: LivekitKeys;
  /** The `host:port` of a Redis. All servers with the same Redis form a cluster. */
  readonly redisAddress?: string;
  readonly progress: ReportProgress;
}

export interface LivekitService extends RunningServer, LivekitKeys {
  readonly url: string;
}

/** Settings of Go's runtime: the only variables that livekit-server inherits from our environment. */
const GO_RUNTIME = ["GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"];
/** On the first signal, the server waits until its participants have left; on the second, it exits immediately. */
const STOP_SIGNALS = ["SIGTERM", "SIGTERM"] as const;
const pidFileOf = (dataDir: string) => join(dataDir, "livekit-server.pid");

/** Stops the livekit-server that an earlier run left running for this data folder. */
export async function endStaleLivekitServer(dataDir: string): Promise<void> {
  await endStaleServer(pidFileOf(dataDir), STOP_SIGNALS);
  await removeContainer(dataDir);
}

/** Starts a livekit-server on loopback and resolves once it answers. */
export async function startLivekitServer(options: LivekitOptions): Promise<LivekitService> {
  const { dataDir, port, progress } = options;
  await mkdir(dataDir, { recursive: true });
  const program = await provideLivekitServer(options.cacheDir, progress);
  const keys = options.keys ?? (await loadLivekitKeys(join(dataDir, "livekit-keys.json")));
  const configFile = join(dataDir, "livekit.json");
  const logFile = join(dataDir, "livekit-server.log");
  await writeFile(configFile, JSON.stringify(serverConfig(options, keys), null, 2), { mode: 0o600 });
  const { command, args, env } =
    "command" in program
      ? { command: program.command, args: ["--config", configFile], env: programEnvironment(...GO_RUNTIME) }
      : containerCommand(program.containerClient, { dataDir, port, config: containerConfig(options, keys) });
  const server = await startServer({
    name: "livekit-server",
    port,
    command,
    args,
    pidFile: pidFileOf(dataDir),
    logFile,
    stopSignals: STOP_SIGNALS,
    place: { env },
    isReady: () => answers(`http://127.0.0.1:${port}`),
    readyWithinMs: 15_000,
  });
  const close = () => server.close().then(() => removeContainer(dataDir));
  return { url: `ws://127.0.0.1:${port}`, ...keys, ...server, close };
}

/**
 * Returns the server's config. It is written as JSON, because every JSON text is also valid YAML. Media over TCP is
 * off, because livekit-server would accept it on all interfaces, regardless of `bind_addresses` and `ips`. TCP is not
 * needed either: nothing blocks UDP on loopback.
 */
function serverConfig({ port, redisAddress }: LivekitOptions, { apiKey, apiSecret }: LivekitKeys) {
  return {
    port,
    bind_addresses: ["127.0.0.1"],
    rtc: {
      tcp_port: 0,
      udp_port: port + 1,
      node_ip: "127.0.0.1",
      use_external_ip: false,
      enable_loopback_candidate: true,
      ips: { includes: ["127.0.0.0/8"] },
    },
    ...(redisAddress !== undefined && { redis: { address: redisAddress } }),
    keys: { [apiKey]: apiSecret },
    logging: { level: "info", json: true },
  };
}

/**
 * Returns the config for a container, in which only the published ports can be reached from outside. LiveKit offers
 * participants the address at which they are published, instead of the container's own.
 */
function containerConfig(options: LivekitOptions, keys: LivekitKeys): string {
  const { bind_addresses: _, rtc, ...config } = serverConfig(options, keys);
  const { ips: _loopback, ...ports } = rtc;
  return JSON.stringify({ ...config, rtc: { ...ports, enable_loopback_candidate: false } });
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

/** Keys are generated once per data folder, so that tokens stay valid after a restart. */
async function loadLivekitKeys(path: string): Promise<LivekitKeys> {
  const stored = await readOrCreateSecret(path, () => {
    return JSON.stringify({
      apiKey: `dev${randomBytes(6).toString("hex")}`,
      apiSecret: randomBytes(32).toString("hex"),
    });
  });
  return JSON.parse(stored) as LivekitKeys;
}
