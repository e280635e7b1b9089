import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, text, toolUse } from "../support/model-server/step.ts";
import { VoiceAgent } from "../support/voice-agent.ts";

const clock = defineTool({ description: "The time.", input: z.object({}), run: () => "ten past two" });

test("a spoken question is answered in speech, with a server tool", async () => {
  await using voice = await VoiceAgent.start({ tools: { clock } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script([reply([text("Let me see."), toolUse("clock")]), reply([text("It is ten past two.")])]);
  voice.understand("What time is it?");
  const { to } = await user.say("What time is it?");
  const said = await user.client.next("transcription", ({ final }) => final);
  expect(said.text).toBe("What time is it?");
  expect(await user.client.answerTo(said.id)).toBe("Let me see. It is ten past two.");
  await user.untilSilence();
  expect(user.secondsHeard(to)).toBeGreaterThan(1.2);
  expect(user.secondsHeard(to)).toBeLessThan(5);
  expect(agent.model.rejections).toEqual([]);
});
