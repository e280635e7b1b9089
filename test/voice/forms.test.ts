import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { toolResults } from "../support/model-view.ts";
import { Participant } from "../support/participant.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

/**
 * What participants say aloud, no matter what a test is about. Each test sets the text that the recognizer returns for
 * it.
 */
const SOUND = "What time is it?";
const DONE = "So be it, my dear friend.";

beforeAll(() => warmUp(SOUND));

const book = defineTool({
  description: "Books a table.",
  input: z.object({}),
  timeoutMs: 1_000,
  run: (_, { elicit }) =>
    elicit({
      message: "A table then.",
      schema: z.object({
        guests: z.int().max(12).meta({ title: "How many people" }),
        place: z.enum(["inside", "garden"]).meta({ title: "Where" }),
      }),
    }),
});

// Speaking the questions and answers takes 15 s.
test(
  "a form is asked by voice, field by field, and the spoken answers are not messages",
  { timeout: 60_000 },
  async () => {
    await using voice = await VoiceAgent.start({ tools: { book } });
    const user = await voice.speaker("user");
    voice.agent.model.script([reply([toolUse("book")]), reply([text(DONE)])]);
    const asking = performance.now();
    await user.client.say("Book a table.");
    await user.untilSound(asking);
    await user.untilSilence();
    for (const answer of ["Well, let me think.", "Four.", "In the garden, please."]) {
      voice.understand(answer);
      const { to } = await user.say(SOUND);
      await user.untilSound(to);
      await user.untilSilence();
    }
    await user.client.next("assistant_sentence", ({ text: said }) => said === DONE, 20_000);

    const content = { guests: 4, place: "garden" };
    expect(toolResults(voice.agent)).toEqual([
      { content: JSON.stringify({ action: "accept", content }), isError: false },
    ]);
    expect(await voice.agent.sql`select count(*)::int as count from turns`).toEqual([{ count: 1 }]);
    expect(voice.agent.model.rejections).toEqual([]);
  },
);

test("a participant who only reads is shown a form's first question in the first answer", async () => {
  await using voice = await VoiceAgent.start({ tools: { book } });
  voice.agent.model.script([reply([toolUse("book")]), reply([text(DONE)])]);
  const reader = await Participant.join(voice.agent.roomName, "reader");
  await reader.say("Book a table.");
  const shown = (question: string) => reader.next("assistant_sentence", ({ text: said }) => said.endsWith(question));
  await shown("A table then. How many people?");
  await reader.say("Four.");
  await shown("Where? inside or garden?");
  await reader.say("In the garden, please.");
  await reader.next("assistant_sentence", ({ text: said }) => said === DONE);

  const content = { guests: 4, place: "garden" };
  expect(toolResults(voice.agent)).toEqual([
    { content: JSON.stringify({ action: "accept", content }), isError: false },
  ]);
  await reader.leave();
});
