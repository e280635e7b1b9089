import { beforeAll, expect, test } from "vitest";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import type { OnUserTurn, UserTurnDecision } from "../../src/agent/turn-hooks.ts";
import type { AgentOptions } from "../support/agent.ts";
import { outline } from "../support/model-view.ts";
import { Participant } from "../support/participant.ts";
import { secondsOf, Speaker } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const LEGAL = "This call is recorded, and kept for as long as the law demands. How can I help you today?";
const HELLO = "Hello, this is the front desk.";

const LONG =
  "I would like to know what the weather is going to be like tomorrow in the east, and the day after in the west.";

beforeAll(() => warmUp(HELLO, LONG));

/** Starts a voice agent. Also returns the texts that each agent's voice has received, in order. */
async function startAgents(agents: Pick<AgentOptions, "agent" | "agents" | "tools">) {
  const said: (readonly [voice: string, text: string])[] = [];
  const voice = await VoiceAgent.start({
    ...agents,
    wrap: (synthesizer, voiceName = "usual") => ({
      ...synthesizer,
      close: () => synthesizer.close(),
      speak: async function* (words, options) {
        const all: string[] = [];
        const recordedWords = async function* () {
          for await (const each of words) {
            all.push(each);
            yield each;
          }
        };
        yield* synthesizer.speak(recordedWords(), options);
        said.push([voiceName, all.join("").trim()]);
      },
    }),
  });
  return { voice, said };
}

test("a participant who joins hears the greeting from its beginning, in the agent's voice", async () => {
  const { voice, said } = await startAgents({ agent: { greeting: HELLO, voice: { name: "en+f3" } } });
  await using _ = voice;
  const client = await Participant.join(voice.agent.roomName, "ana");
  const caller = new Speaker(client);

  await client.configure({});

  await expect.poll(() => caller.secondsHeard(), { timeout: 10_000 }).toBeGreaterThan(0.8 * (await secondsOf(HELLO)));
  expect(said).toEqual([["en+f3", HELLO]]);
  await caller.close();
  await client.leave();
});

test("a greeting that is not interruptible is heard to its end, and what was said over it is answered afterwards", async () => {
  const { voice } = await startAgents({ agent: { greeting: { say: LEGAL, interruptible: false } } });
  await using _ = voice;
  voice.understand("Stop.");
  voice.agent.model.script([reply([text("As you like.")])]);
  const client = await Participant.join(voice.agent.roomName, "ana");
  const caller = new Speaker(client);
  await caller.publish();
  await client.configure({});
  await caller.untilHeard(0.5);

  await caller.say("Ahem");
  await client.next("assistant_sentence", ({ text: said }) => said === "As you like.", 15_000);

  const heard = await voice.agent.sql`select state, heard from turns where heard is not null`;
  expect(heard).toEqual([]);
  expect(caller.secondsHeard()).toBeGreaterThan(0.8 * (await secondsOf(LEGAL)));
  await caller.close();
  await client.leave();
});

test.each<[how: string, decision: UserTurnDecision]>([
  ["answers", { answer: LEGAL, interruptible: false }],
  ["refuses", { refuse: LEGAL, interruptible: false }],
])("what a hook %s is heard to its end, if it is not interruptible", async (_how, decision) => {
  const onUserTurn: OnUserTurn = ({ text: said }) => (said === "Terms?" ? decision : undefined);
  const { voice } = await startAgents({ agent: { onUserTurn } });
  await using _ = voice;
  const caller = await voice.speaker("ana");
  voice.understand("Stop.");
  voice.agent.model.script([reply([text("As you like.")])]);

  await caller.client.say("Terms?");
  await caller.untilHeard(0.5);
  await caller.say("Please stop it now.");
  await caller.client.next("assistant_sentence", ({ text: said }) => said === "As you like.", 20_000);

  expect(await voice.agent.sql`select state, heard from turns where heard is not null`).toEqual([]);
  expect(caller.secondsHeard()).toBeGreaterThan(0.8 * (await secondsOf(LEGAL)));
});

test("a handoff changes the voice from the other agent's first word on, even if words of the first one are still waiting", async () => {
  const { voice, said } = await startAgents({
    agent: { voice: { name: "en+f3" }, handoffs: { billing: { when: "it is about an invoice" } } },
    agents: { billing: { instructions: "You know invoices.", voice: { name: "en+m3" } } },
    tools: { find: defineTool({ description: "Finds.", input: { type: "object" }, run: () => 7 }) },
  });
  await using _ = voice;
  const caller = await voice.speaker("ana");
  voice.agent.model.script([
    reply([text("Let me look into that, for a moment."), toolUse("find")]),
    reply([text("A colleague knows."), toolUse("hand_off", { to: "billing", summary: "An invoice." })]),
    reply([text("It is paid.")]),
  ]);

  await caller.client.answerTo(await caller.client.say("My invoice?"));
  await caller.untilSilence();

  expect(said).toEqual([
    ["en+f3", "Let me look into that, for a moment."],
    ["en+f3", "A colleague knows."],
    ["en+m3", "It is paid."],
  ]);
});

test("a participant's speech ends a silence even before it is recognized", async () => {
  const idle = [
    { afterMs: 500, say: "Hello?" },
    { afterMs: 3_000, say: "Is anybody there?" },
  ];
  const { voice } = await startAgents({ agent: { idle } });
  await using _ = voice;
  const caller = await voice.speaker("ana");
  voice.agent.model.script([reply([text("Windy.")])]);
  voice.understand("What is the weather like?");
  const spoken = () => voice.agent.sql`select 1 from turns where spoken_at is not null`;
  await expect.poll(spoken, { timeout: 10_000 }).toHaveLength(1);

  await caller.say(LONG);
  await caller.client.next("assistant_sentence", ({ text: words }) => words === "Windy.", 15_000);

  const shown = outline(voice.agent).join("\n");
  expect(shown).toContain("[Nobody has said anything for 1 s.]");
  expect(shown).not.toContain("[Nobody has said anything for 3 s.]");
});
