import { cli, ServerOptions } from "@livekit/agents";
import { fileURLToPath } from "node:url";

/** Starts LiveKit's command line for the agent of this module. */
export function serve(agentUrl: string): void {
  cli.runApp(
    new ServerOptions({
      agent: fileURLToPath(agentUrl),
      port: Number(process.env["AGENT_PORT"]),
      // By CPU it would call itself full, and rooms would get no agent, whenever the machine is busy.
      loadFunc: async () => 0,
    }),
  );
}
