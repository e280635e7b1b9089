import { expect, test } from "vitest";
import { openSdk } from "../client/open-sdk.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { TelemetryAgent } from "./telemetry-agent.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";

test("the SDK starts a turn in its own trace, and its tools receive the context that continues theirs", async () => {
  await using talk = await TelemetryAgent.start();
  const { agent, receiver } = talk;
  let traceparent: string | undefined;
  const scan = {
    name: "scan",
    description: "D.",
    input: { type: "object" },
    run: (_input: unknown, context: { readonly traceparent?: string }) => void (traceparent = context.traceparent),
  };
  const { parley } = await openSdk(agent, "alice", [scan]);
  agent.model.script([reply([toolUse("scan")]), reply([text("Done.")])]);

  await parley.ask("Go", { traceparent: `00-${TRACE}-b7ad6b7169203331-01` });
  await parley.close();
  await talk.end();

  const [call] = receiver.named("execute_tool scan");
  expect(call?.traceId).toBe(TRACE);
  expect(traceparent).toBe(`00-${TRACE}-${call?.spanId}-01`);
});
