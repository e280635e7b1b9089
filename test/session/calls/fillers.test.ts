import { expect, test } from "vitest";
import { z } from "zod";
import type { Message } from "../../../src/protocol/messages/messages.ts";
import type { SessionPolicy } from "../../../src/session/session-policy.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import {
  decode,
  encode,
  FakeSession,
  fakeParticipant,
  lastUserText,
  type FakeReply,
} from "../../support/doubles/fake-session.ts";
import { FakeVoice } from "../../support/doubles/fake-voice.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

interface Slow {
  readonly filler?: string | readonly string[];
  readonly fillerAfterMs?: number;
  readonly noticeAfterMs?: number;
  readonly timeoutMs?: number;
  readonly background?: boolean;
}

function slowTool(ms: number, more: Slow = {}) {
  const run = () => new Promise((resolve) => setTimeout(() => resolve("done"), ms));
  return defineTool({ description: "S.", input: z.object({}), ...more, run });
}

interface Talk {
  readonly tools: Readonly<Record<string, ReturnType<typeof slowTool>>>;
  /** The tools to use in each turn's first step. */
  readonly uses?: readonly string[];
  readonly think?: () => FakeReply;
  readonly voice?: FakeVoice;
  readonly policy?: Partial<SessionPolicy>;
  readonly language?: string;
  readonly turns?: number;
  readonly prepare?: (clock: VirtualClock) => void;
}

/**
 * Says "Go" in each turn, and lets two minutes pass each time. Returns the sentences that were shown, the stored
 * blocks, and all messages that were sent.
 */
async function talk(options: Talk) {
  const { tools, uses = Object.keys(tools), voice, policy = {}, language = "en", turns = 1 } = options;
  using clock = new VirtualClock();
  options.prepare?.(clock);
  const sent: Message[] = [];
  const fake = new FakeSession({
    tools,
    policy,
    think: (history) => {
      if (options.think) return options.think();
      return lastUserText(history) === undefined ? { text: "Here." } : { uses: uses.map((name) => ({ name })) };
    },
    publish: async (bytes) => void sent.push(decode(bytes).message),
    ...(voice && { voice }),
  });
  const user = fakeParticipant("user");
  fake.session.handle({ type: "joined", participant: user });
  const configuration = { preferredLanguage: language };
  fake.session.handle({ type: "packet", from: user, bytes: encode(1, { type: "configuration", body: configuration }) });
  for (let turn = 1; turn <= turns; turn++) {
    fake.session.handle({
      type: "packet",
      from: user,
      bytes: encode(turn + 1, { type: "user_message", body: { id: `m${turn}`, content: "Go" } }),
    });
    await clock.run(120_000);
  }
  const shown = sent.flatMap(({ type, body }) => (type === "assistant_sentence" && body.text ? [body.text] : []));
  const blocks = [...fake.recorder.turns.values()].flatMap((turn) => turn.blocks);
  return { shown, blocks, sent };
}

test("a filler is said once when a call is slow, and cut off by the answer", async () => {
  const voice = new FakeVoice({ asideMs: 5_000 });
  const { shown, blocks } = await talk({ voice, tools: { look: slowTool(3_000, { filler: "One moment." }) } });
  expect(voice.said).toEqual(["(One moment.-)", "Here."]);
  expect(shown).toEqual(["Here."]);
  expect(JSON.stringify(blocks)).not.toContain("One moment");
});

test("a filler is not said when a call is quick", async () => {
  const voice = new FakeVoice();
  await talk({ voice, tools: { look: slowTool(1_100, { filler: "One moment." }) } });
  expect(voice.said).toEqual(["Here."]);
});

test("a filler that has been said is not cut", async () => {
  const voice = new FakeVoice({ asideMs: 500 });
  await talk({ voice, tools: { look: slowTool(3_000, { filler: "One moment.", fillerAfterMs: 100 }) } });
  expect(voice.said).toEqual(["(One moment.)", "Here."]);
});

test("a list of fillers continues from call to call", async () => {
  const voice = new FakeVoice();
  const filler = ["One moment.", "Let me look."];
  await talk({ voice, turns: 3, tools: { look: slowTool(3_000, { filler }) } });
  expect(voice.said.filter((text) => text.startsWith("("))).toEqual([
    "(One moment.)",
    "(Let me look.)",
    "(One moment.)",
  ]);
});

test("calls that run at the same time share one filler", async () => {
  const voice = new FakeVoice();
  const tools = { look: slowTool(5_000, { filler: "I look." }), scan: slowTool(5_000, { filler: "I scan." }) };
  await talk({ voice, tools });
  expect(voice.said).toEqual(["(I look.)", "Here."]);
});

test("the silence before a filler starts when the words before it have been heard", async () => {
  const voice = new FakeVoice();
  const release = voice.holdWords();
  const tools = { look: slowTool(2_000, { filler: "One moment." }) };
  await talk({ voice, tools, prepare: (clock) => clock.after(1_000, release) });
  expect(voice.said).toEqual(["Here."]);
});

test("no filler is said in a session without a voice", async () => {
  const { shown } = await talk({ tools: { look: slowTool(60_000, { filler: "One moment.", noticeAfterMs: 100 }) } });
  expect(shown).toEqual(["Here."]);
});

test("no filler is said for a background call", async () => {
  const voice = new FakeVoice();
  const tools = { look: slowTool(10_000, { filler: "One moment.", noticeAfterMs: 100, background: true }) };
  await talk({ voice, tools });
  expect(voice.said).toEqual(["Here.", "Here."]);
});

test.each([
  ["en", "This is taking a little longer."],
  ["de-AT", "Das dauert etwas länger."],
  ["xx", "This is taking a little longer."],
])("the worker apologizes for a slow call in the participant's language (%s)", async (language, notice) => {
  const voice = new FakeVoice();
  await talk({ voice, language, tools: { look: slowTool(6_000, { noticeAfterMs: 5_000 }) } });
  expect(voice.said).toEqual([`(${notice})`, "Here."]);
});

test("the config has the last word on what is said", async () => {
  const voice = new FakeVoice();
  const policy = { phrases: { de: { notice: "Moment noch." } } };
  await talk({ voice, policy, language: "de", tools: { look: slowTool(6_000, { noticeAfterMs: 5_000 }) } });
  expect(voice.said).toEqual(["(Moment noch.)", "Here."]);
});

test("a turn that fails is reported by voice and as text, and with an ErrorMessage", async () => {
  const voice = new FakeVoice();
  const think = () => {
    throw new Error("The model is away");
  };
  const { shown, sent } = await talk({ voice, tools: {}, think });
  expect(voice.said).toEqual(["(Something went wrong. Please try again.)"]);
  expect(shown).toEqual(["Something went wrong.", "Please try again."]);
  expect(sent.filter(({ type }) => type === "error_message")).toHaveLength(1);
});

test("reaching the step limit is said and shown, but not as part of the answer's own words", async () => {
  const voice = new FakeVoice();
  const think = () => ({ uses: [{ name: "look" }] });
  const { shown, blocks } = await talk({ voice, tools: { look: slowTool(1) }, think, policy: { maxSteps: 1 } });
  expect(voice.said).toEqual(["(I have to stop here; this took too many steps.)"]);
  expect(shown).toEqual(["I have to stop here; this took too many steps."]);
  expect(blocks.filter(({ blockType }) => blockType === "text")).toEqual([]);
});

test("a timeout that the model does not mention is reported by voice and as text", async () => {
  const voice = new FakeVoice();
  const replies: FakeReply[] = [{ uses: [{ name: "look" }] }, {}];
  const think = () => replies.shift() ?? {};
  const { shown } = await talk({ voice, tools: { look: slowTool(60_000, { timeoutMs: 1_000 }) }, think });
  expect(voice.said).toEqual(["(I could not finish that.)"]);
  expect(shown).toEqual(["I could not finish that."]);
});

test("a timeout that the model mentions is not reported twice", async () => {
  const voice = new FakeVoice();
  await talk({ voice, tools: { look: slowTool(60_000, { timeoutMs: 1_000 }) } });
  expect(voice.said).toEqual(["Here."]);
});
