import { AppError } from "../../errors/app-error.ts";
import type { Config } from "../config.ts";
import { isUdpPortFree, probeTcpPort } from "../process/ports.ts";

/** The variables of ports to which browsers or this process (with `fetch`) connect. */
const HTTP_VARIABLES: ReadonlySet<string> = new Set(["HTTP_PORT", "WORKER_PORT", "LIVEKIT_PORT"]);

/**
 * Whether the Fetch standard blocks a port ("bad port") because another protocol uses it. `fetch` reports this without
 * connecting.
 */
async function isBlocked(port: number): Promise<boolean> {
  if (port === 0) return false;
  return fetch(`http://127.0.0.1:${port}/`, { method: "HEAD", signal: AbortSignal.timeout(500) }).then(
    () => false,
    ({ cause }: Error) => cause instanceof Error && cause.message === "bad port",
  );
}

/** @throws {AppError} `invalid_config` with each port that is in use or that clients cannot use, and its variable */
export async function checkPorts(config: Config, isWorkerOnly: boolean): Promise<void> {
  const { httpHost, livekitPort, postgresPort } = config;
  const tcp: [string, number, string][] = [
    ["HTTP_PORT", config.httpPort, httpHost],
    ["WORKER_PORT", config.workerPort, httpHost],
  ];
  if (config.grpcPort !== undefined) tcp.push(["GRPC_PORT", config.grpcPort, httpHost]);
  const startsLivekit = !isWorkerOnly && config.livekitUrl === undefined;
  if (startsLivekit) {
    tcp.push(["LIVEKIT_PORT", livekitPort, "127.0.0.1"]);
  }
  if (!isWorkerOnly && config.databaseUrl === undefined && postgresPort !== 0) {
    tcp.push(["POSTGRES_PORT", postgresPort, "127.0.0.1"]);
  }
  const taken: string[] = [];
  for (const [index, [variable, port, host]] of tcp.entries()) {
    const isTwice = tcp.slice(0, index).some((earlier) => earlier[1] === port);
    if (isTwice) taken.push(`${variable}: expected a port that no other variable uses, got ${port}`);
    else if ((await probeTcpPort(port, host)) === undefined) {
      taken.push(`${variable}: expected a free port, got ${port}, which is in use on ${host}`);
    } else if (HTTP_VARIABLES.has(variable) && (await isBlocked(port))) {
      taken.push(`${variable}: expected a port that browsers and fetch can connect to, got ${port}, which they block`);
    }
  }
  if (startsLivekit && !(await isUdpPortFree(livekitPort + 1))) {
    taken.push(`LIVEKIT_PORT + 1: expected a free UDP port, got ${livekitPort + 1}, which is in use`);
  }
  if (taken.length > 0) throw new AppError("invalid_config", taken.join("\n"));
}
