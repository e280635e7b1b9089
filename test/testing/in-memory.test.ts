import "../../src/testing/vitest.ts";
import { expect, test } from "vitest";
import { scripted } from "../../src/testing/model/scripted.ts";
import { startTalk } from "../../src/testing/start-talk.ts";
import { tableAgent } from "./table-agent.ts";

test("a budget that is used up ends the answers", async () => {
  const config = { ...tableAgent.config, budget: { session: { tokens: 1 } } };
  await using talk = await startTalk({ ...tableAgent, config, model: scripted(["Hello!", "Hello again!"]) });

  await talk.say("Hi");
  const turn = await talk.say("Hi");

  expect(turn).not.toSay("Hello again!");
  expect(talk.repliesLeft).toBe(1);
});

test("what a participant asks to remember is available to the tools and can be forgotten", async () => {
  const config = { ...tableAgent.config, memory: true };
  const model = scripted([
    { use: { remember: { text: "Likes tea." } } },
    "I will.",
    { use: { forget: { everything: true } } },
    "Forgotten.",
  ]);
  await using talk = await startTalk({ ...tableAgent, config, model });

  const remembered = await talk.say("Remember that I like tea");
  const forgotten = await talk.say("Forget it all");

  expect(remembered).toHaveCalled("remember", { text: "Likes tea." });
  expect(forgotten).toHaveCalled("forget", { everything: true }, { result: { forgotten: 1 } });
});

test("recall finds what was said earlier, by word, speaker and tool, and returns a result", async () => {
  const config = { ...tableAgent.config, recall: true };
  const model = scripted([
    { use: { get_location: {} } },
    "You are in Paris.",
    { use: { recall: { words: "parisian pari" } } },
    { use: { recall: { words: "pari", speaker: "agent" } } },
    { use: { recall: { tool: "get_location" } } },
    "Found.",
  ]);
  await using talk = await startTalk({ ...tableAgent, config, model });

  await talk.say("Where am I?");
  const turn = await talk.say("What did you say?");
  const [none, said, used] = turn.calls.map(({ result }) => result);

  expect(none).toMatchObject({ found: [] });
  expect(said).toMatchObject({ found: [{ turn: 1, speaker: "agent", text: "You are in Paris." }] });
  expect(used).toMatchObject({
    found: [
      { turn: 1, tool: "get_location" },
      { turn: 1, tool: "get_location" },
    ],
  });
});
