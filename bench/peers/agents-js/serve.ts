import { cli, ServerOptions } from "@livekit/agents";
import { fileURLToPath } from "node:url";

/** Starts LiveKit's command line for the agent in the module `agentUrl`. */
export function serve(agentUrl: string): void {
  cli.runApp(
    new ServerOptions({
      agent: fileURLToPath(agentUrl),
      port: Number(process.env["AGENT_PORT"]),
      // The default depends on the CPU load: on a busy machine, the agent would count as full, and rooms would have no
      // agent.
      loadFunc: async () => 0,
    }),
  );
}
