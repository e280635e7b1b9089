import { z } from "zod";
import { expect, test } from "vitest";
import { httpError, reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { Participant } from "../../support/participant.ts";

const FAILED = "Something went wrong. Please try again.";

test.each([
  [401, "authentication_error", 401],
  [404, "not_found_error", 202],
])(
  "a participant whose turn fails because the model answers %i is told so in plain words",
  async (status, type, code) => {
    await using agent = await TestAgent.start();
    await using user = await Participant.join(agent.roomName, "ana");
    await user.configure({});
    agent.model.script([httpError(status, type)]);

    expect(await user.answerTo(await user.say("Hello"))).toBe(FAILED);

    expect(user.all("error_message")).toMatchObject([{ code, message: expect.not.stringContaining(type) as string }]);
  },
);

test("an answer that fails in the middle ends with plain words", async () => {
  await using agent = await TestAgent.start();
  await using user = await Participant.join(agent.roomName, "ana");
  await user.configure({ preferredLanguage: "de" });
  agent.model.script([reply([text("Moment."), toolUse("none", {})]), httpError(401, "authentication_error")]);

  const answer = await user.answerTo(await user.say("Hallo"));

  expect(answer).toBe("Moment. Da ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.");
});

test("a failed tool that the model does not mention is reported in plain words", async () => {
  const print = defineTool({
    description: "Prints.",
    input: z.object({}),
    run: () => {
      throw new Error("no paper");
    },
  });
  await using agent = await TestAgent.start({ tools: { print } });
  await using user = await Participant.join(agent.roomName, "ana");
  await user.configure({});
  agent.model.script([reply([toolUse("print", {})]), reply([])]);

  expect(await user.answerTo(await user.say("Print it"))).toBe("I could not finish that.");
});
