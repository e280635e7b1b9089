import { pino } from "pino";
import { z } from "zod";
import { expect, test } from "vitest";
import { httpError, reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { describeError } from "../../../src/worker/logger.ts";
import { TestAgent } from "../../support/agent.ts";
import { Participant } from "../../support/participant.ts";

/** A log, and its lines of this level and above. */
function createLog(level: string) {
  const lines: Record<string, unknown>[] = [];
  const options = { level, serializers: { error: describeError } };
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, logger: pino(options, { write }) };
}

test("a tool that throws is logged with its name and its stack locations", async () => {
  const { lines, logger } = createLog("warn");
  const breaks = defineTool({
    description: "Breaks.",
    input: z.object({}),
    run: () => {
      throw new TypeError("cannot read foo of undefined");
    },
  });
  await using agent = await TestAgent.start({ logger, tools: { breaks } });
  await using user = await Participant.join(agent.roomName, "ana");
  await user.configure({});
  agent.model.script([reply([toolUse("breaks", {})]), reply([text("It broke.")])]);

  await user.answerTo(await user.say("Break it"));

  expect(lines).toMatchObject([{ level: 40, msg: "tool threw", toolName: "breaks", error: { type: "TypeError" } }]);
  expect(JSON.stringify(lines)).toContain("failures-in-log.test.ts");
  expect(JSON.stringify(lines)).not.toContain("cannot read foo");
});

test("turns that fail because the model refuses are no warnings, and name the request and the API's message", async () => {
  const { lines, logger } = createLog("info");
  await using agent = await TestAgent.start({ logger });
  await using user = await Participant.join(agent.roomName, "ana");
  await user.configure({});
  agent.model.script([httpError(401, "authentication_error")]);
  const ended = () => lines.filter(({ msg }) => msg === "turn ended");

  await user.say("Hello");
  await expect.poll(() => ended().length, { timeout: 10_000 }).toBeGreaterThan(0);

  expect(ended()).toMatchObject([
    {
      level: 30,
      state: "failed",
      errorCode: "not_allowed",
      requestId: "req_1",
      apiMessage: "Scripted authentication_error",
      error: { message: "The model call failed: authentication (HTTP 401)" },
    },
  ]);
});

test("a turn that fails because of its own conversation is a warning", async () => {
  const { lines, logger } = createLog("warn");
  await using agent = await TestAgent.start({ logger });
  await using user = await Participant.join(agent.roomName, "ana");
  await user.configure({});
  agent.model.script([httpError(413, "request_too_large")]);

  await user.say("Hello");
  await expect.poll(() => lines.length, { timeout: 10_000 }).toBeGreaterThan(0);

  expect(lines).toMatchObject([{ level: 40, msg: "turn ended", state: "failed", errorCode: "too_large" }]);
});
