import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { endStaleChild, startChild } from "../process/start-program.ts";
import { waitUntil } from "../process/wait-until.ts";
import { findLivekitServer } from "./find-livekit-server.ts";
import { loadLivekitKeys, type LivekitKeys } from "./livekit-keys.ts";
import { type TellProgress, type Service } from "./service.ts";

interface LivekitOptions {
  readonly dataDir: string;
  readonly cacheDir: string;
  /** Signalling; media goes over TCP on the next port and UDP on the one after it. */
  readonly port: number;
  /** The environment's own keys, when it has some. */
  readonly keys?: LivekitKeys;
  readonly progress: TellProgress;
}

export interface LivekitService extends Service, LivekitKeys {
  readonly url: string;
  /** Settles when the server has ended, also when nobody asked it to. */
  readonly ended: Promise<unknown>;
}

/** The server waits for its participants on the first signal and leaves at once on the second. */
const STOP_SIGNALS = ["SIGTERM", "SIGTERM"] as const;
const pidFileOf = (dataDir: string) => join(dataDir, "livekit-server.pid");

/** Ends the livekit-server that a killed run has left in this data folder. */
export async function endStaleLivekitServer(dataDir: string): Promise<void> {
  await endStaleChild(pidFileOf(dataDir), STOP_SIGNALS);
}

/** Starts a real livekit-server on loopback, found or built, and returns once it answers. */
export async function startLivekitServer(options: LivekitOptions): Promise<LivekitService> {
  const { dataDir, port, progress } = options;
  await mkdir(dataDir, { recursive: true });
  const command = await findLivekitServer(options.cacheDir, progress);
  const keys = options.keys ?? (await loadLivekitKeys(join(dataDir, "livekit-keys.json")));
  const configFile = join(dataDir, "livekit.json");
  const logFile = join(dataDir, "livekit-server.log");
  await writeFile(configFile, JSON.stringify(serverConfig(port, keys), null, 2), { mode: 0o600 });
  const args = ["--config", configFile];
  const pidFile = pidFileOf(dataDir);
  const child = await startChild({ command, args, pidFile, logFile, stopSignals: STOP_SIGNALS });
  const url = `ws://127.0.0.1:${port}`;
  try {
    const until = AbortSignal.any([AbortSignal.timeout(15_000), abortedBy(child.ended)]);
    await waitUntil(() => answers(`http://127.0.0.1:${port}`), until);
  } catch (error) {
    await child.close();
    const output = (await readFile(logFile, "utf8").catch(() => "")).trim().split("\n").slice(-3).join("\n");
    throw new AppError("unavailable", `livekit-server did not start on port ${port} (${logFile}):\n${output}`, {
      cause: error,
    });
  }
  return { url, ...keys, ended: child.ended, close: child.close };
}

/** JSON is YAML too, and needs no writer of its own. */
function serverConfig(port: number, { apiKey, apiSecret }: LivekitKeys) {
  return {
    port,
    bind_addresses: ["127.0.0.1"],
    rtc: {
      tcp_port: port + 1,
      udp_port: port + 2,
      node_ip: "127.0.0.1",
      use_external_ip: false,
      enable_loopback_candidate: true,
      ips: { includes: ["127.0.0.0/8"] },
    },
    keys: { [apiKey]: apiSecret },
    logging: { level: "info", json: true },
  };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

function abortedBy(promise: Promise<unknown>): AbortSignal {
  const controller = new AbortController();
  void promise.then(() => controller.abort(new Error("it ended")));
  return controller.signal;
}
