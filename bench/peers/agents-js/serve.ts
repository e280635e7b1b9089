import { cli, ServerOptions } from "@livekit/agents";
import { fileURLToPath } from "node:url";

/** Starts LiveKit's command line for the agent of this module. */
export function serve(agentUrl: string): void {
  cli.runApp(
    new ServerOptions({
      agent: fileURLToPath(agentUrl),
      port: Number(process.env["AGENT_PORT"]),
      // Its default is by CPU: on a busy machine it would be full, and rooms would get no agent.
      loadFunc: async () => 0,
    }),
  );
}
