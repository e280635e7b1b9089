import { expect, test } from "vitest";
import { runNode, urlOf } from "./run-node.ts";

/** Runs in a separate process, because a registration cannot be undone. */
const SCRIPT = `
  const { AgentServer, InferenceRunner, ServerOptions } = await import("@livekit/agents");
  const { startAgentsLog } = await import("${urlOf("src/livekit/job-processes.ts")}");
  const { keepInferenceProcessOff } = await import("${urlOf("src/livekit/no-inference-process.ts")}");
  const options = { agent: "agent.ts", wsURL: "ws://server", apiKey: "key", apiSecret: "secret", production: true };
  const create = () => new AgentServer(new ServerOptions(options));
  let early = "made";
  try { create(); } catch (error) { early = error.message; }
  startAgentsLog("silent");
  keepInferenceProcessOff();
  create();
  console.log(JSON.stringify({ early, runners: Object.keys(InferenceRunner.registeredRunners) }));
  process.exit();`;

test("a server is created once its log exists, and lists no runner that needs an inference process", async () => {
  const { early, runners } = JSON.parse((await runNode(SCRIPT)).stdout);

  expect(early).toContain("logger not initialized");
  expect(runners).toEqual([]);
});
