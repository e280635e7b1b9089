import { BasicTracerProvider, type SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { SessionTelemetry } from "../../../src/session/telemetry/session-telemetry.ts";
import { createTelemetry } from "../../../src/telemetry/telemetry.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { TestAgent } from "../../support/agent.ts";
import { announced } from "../../support/client-tool.ts";

const fail = () => {
  throw new Error("The processor is broken");
};
const quiet = { forceFlush: async () => {}, shutdown: async () => {} };

const throwingAt = (moment: "onStart" | "onEnd") => {
  const processor: SpanProcessor = { onStart: () => {}, onEnd: () => {}, ...quiet, [moment]: fail };
  return createTelemetry({}, { tracerProvider: new BasicTracerProvider({ spanProcessors: [processor] }) });
};

test.each(["onStart", "onEnd"] as const)("a span processor that throws in %s does not affect a turn", async (at) => {
  await using agent = await TestAgent.start({ telemetry: throwingAt(at) });
  const user = await agent.client("user", { tools: [announced("scan")] });
  agent.model.script([reply([text("One moment."), toolUse("scan")]), reply([text("Done.")]), reply([text("Two.")])]);

  const id = await user.say("Go");
  const request = await user.next("tool_use_request");
  await user.answer(request.id, { success: true, result: {} });
  await user.answer(request.id, { success: true, result: {} });

  expect(await user.answerTo(id)).toMatch(/Done\.$/);
  expect(await user.answerTo(await user.say("Again"))).toBe("Two.");
  await agent.leave();
  expect((await agent.calls()).map(({ state }) => state)).toEqual(["success"]);
  expect((await agent.sql`select state from turns`).map(({ state }) => state as string)).toEqual([
    "completed",
    "completed",
  ]);
});

test("a turn whose telemetry cannot even start is run once, and its result is passed on", async () => {
  const telemetry = new SessionTelemetry(throwingAt("onStart"));
  let runs = 0;
  const run = async () => {
    runs++;
    return { state: "completed", errorCode: undefined } as const;
  };

  expect(await telemetry.turn({ participant: "ann", meta: undefined }, run)).toMatchObject({ state: "completed" });
  expect(runs).toBe(1);
});
