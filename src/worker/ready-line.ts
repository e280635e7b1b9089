import type { Config } from "./config.ts";
import type { Ready } from "./start.ts";

/** Returns the line for stderr when the worker is ready: which model answers, in which rooms, and how to talk to it. */
export function readyLine(ready: Ready, config: Pick<Config, "httpPort" | "livekitAgentName">): string {
  const { livekitAgentName: name, httpPort } = config;
  const rooms =
    name === undefined
      ? `in every room of ${ready.livekitUrl}`
      : `in the rooms of ${ready.livekitUrl} that are dispatched to "${name}"`;
  const grpc = ready.grpcUrl === undefined ? "" : `, gRPC at ${ready.grpcUrl}`;
  const talk = httpPort === 8080 ? "npm run talk" : `HTTP_PORT=${httpPort} npm run talk`;
  return `ready: ${ready.model} ${rooms}, HTTP at ${ready.httpUrl}${grpc}. Talk to it: ${talk}`;
}
