import { pino } from "pino";
import { z } from "zod";
import { expect, test } from "vitest";
import { httpError, reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { describeError } from "../../../src/worker/logger.ts";
import { TestAgent } from "../../support/agent.ts";
import { Participant } from "../../support/participant.ts";

/** A log, and its lines with level warn and above. */
function createLog() {
  const lines: Record<string, unknown>[] = [];
  const options = { level: "warn", serializers: { error: describeError } };
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, logger: pino(options, { write }) };
}

test("a tool that throws is logged with its name and its stack locations", async () => {
  const { lines, logger } = createLog();
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

test("a model that refuses is logged as a warning with the HTTP status and the API's message about the account", async () => {
  const { lines, logger } = createLog();
  await using agent = await TestAgent.start({ logger });
  await using user = await Participant.join(agent.roomName, "ana");
  await user.configure({});
  agent.model.script([httpError(401, "authentication_error")]);

  await user.say("Hello");
  await expect.poll(() => lines.length, { timeout: 10_000 }).toBeGreaterThan(0);

  expect(lines).toMatchObject([
    {
      level: 40,
      msg: "turn ended",
      state: "failed",
      errorCode: "not_allowed",
      apiMessage: expect.any(String),
      error: { message: "The model call failed: authentication (HTTP 401)" },
    },
  ]);
});
