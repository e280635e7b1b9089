import { cli, ServerOptions } from "@livekit/agents";
import { fileURLToPath } from "node:url";

/** Starts LiveKit's command line for the agent in this module. */
export function serve(agentUrl: string): void {
  cli.runApp(
    new ServerOptions({
      agent: fileURLToPath(agentUrl),
      port: Number(process.env["AGENT_PORT"]),
      // The default depends on CPU load: on a busy machine the agent would be full, and rooms would get no agent.
      loadFunc: async () => 0,
    }),
  );
}
