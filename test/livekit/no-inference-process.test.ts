import { expect, test } from "vitest";
import { runNode, urlOf } from "./run-node.ts";

/** Creates servers in a separate process, because a registration cannot be undone. */
async function createServers({ isRegisteredBefore }: { readonly isRegisteredBefore: boolean }) {
  const script = `
    const { AgentServer, InferenceRunner, ServerOptions } = await import("@livekit/agents");
    const { startAgentsLog } = await import("${urlOf("src/livekit/job-processes.ts")}");
    const { keepInferenceProcessOff } = await import("${urlOf("src/livekit/no-inference-process.ts")}");
    const options = { agent: "agent.ts", wsURL: "ws://server", apiKey: "key", apiSecret: "secret", production: true };
    const create = () => new AgentServer(new ServerOptions(options));
    const runners = () => Object.keys(InferenceRunner.registeredRunners);
    let early = "made";
    try { create(); } catch (error) { early = error.message; }
    startAgentsLog("silent", () => {});
    if (${isRegisteredBefore}) create();
    const before = runners();
    keepInferenceProcessOff();
    create();
    console.log(JSON.stringify({ early, before, runners: runners() }));
    process.exit();`;
  return JSON.parse((await runNode(script)).stdout) as Readonly<Record<"early" | "before" | "runners", unknown>>;
}

test("a server is created once its log exists, and lists no runner that needs an inference process", async () => {
  const { early, runners } = await createServers({ isRegisteredBefore: false });

  expect(early).toContain("logger not initialized");
  expect(runners).toEqual([]);
});

test("a server lists no runner even if an earlier server in the process has registered one", async () => {
  const { before, runners } = await createServers({ isRegisteredBefore: true });

  expect(before).toEqual(["lk_eot_audio"]);
  expect(runners).toEqual([]);
});
