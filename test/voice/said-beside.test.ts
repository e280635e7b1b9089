import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, type Tool } from "../../src/tool/define-tool.ts";
import { httpError, reply, text, toolUse, type Step } from "../support/model-server/step.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

beforeAll(() => warmUp());

const LOOK = { description: "Looks.", input: z.object({}) };

/** Types a question, and waits until all that is said to it has been heard. */
async function heard({ tools, steps }: { readonly tools: Record<string, Tool>; readonly steps: Step[] }) {
  const voice = await VoiceAgent.start({ tools, policy: { maxSteps: 2 } });
  const user = await voice.speaker("user");
  voice.agent.model.script(steps);
  const asked = performance.now();
  await user.client.say("Look for it");
  await user.untilSound(asked);
  await user.client.next("assistant_sentence", ({ isFinal }) => isFinal, 20_000);
  await user.untilSilence();
  return { voice, user, asked, [Symbol.asyncDispose]: () => voice[Symbol.asyncDispose]() };
}

test("a filler is heard once, however long the tool takes", async () => {
  let done = 0;
  const run = async () => {
    await sleep(5_000);
    done = performance.now();
  };
  const look = defineTool({ ...LOOK, filler: "One moment.", fillerAfterMs: 300, run });
  await using talk = await heard({ tools: { look }, steps: [reply([toolUse("look")]), reply([text("Here it is.")])] });
  expect(talk.user.timesHeard(talk.asked, done)).toBe(1);
  // The final sentence comes a moment before its sound.
  await talk.user.untilSound(done);
  await talk.user.untilSilence();
  expect(talk.user.timesHeard(done)).toBe(1);
});

test("a call that takes long is excused, after a while", async () => {
  let done = 0;
  const run = async () => {
    await sleep(4_500);
    done = performance.now();
  };
  const look = defineTool({ ...LOOK, noticeAfterMs: 1_500, run });
  await using talk = await heard({ tools: { look }, steps: [reply([toolUse("look")]), reply([text("Here it is.")])] });
  expect(talk.user.timesHeard(talk.asked, talk.asked + 1_500)).toBe(0);
  expect(talk.user.timesHeard(talk.asked, done)).toBe(1);
});

const quick = defineTool({ ...LOOK, run: () => "found" });
const endless = defineTool({ ...LOOK, timeoutMs: 500, run: (_input, { signal }) => sleep(60_000, "", { signal }) });

test.each([
  ["a refusal", quick, [reply([], { stopReason: "refusal" })]],
  ["too many steps", quick, [reply([toolUse("look")]), reply([toolUse("look")])]],
  ["a timeout that the model says nothing about", endless, [reply([toolUse("look")]), reply([])]],
  ["a turn that failed", quick, [httpError(400, "invalid_request_error")]],
] as const)("%s is heard", async (_what, look, steps) => {
  await using talk = await heard({ tools: { look }, steps: [...steps] });
  expect(talk.user.secondsHeard(talk.asked)).toBeGreaterThan(0.5);
});

test("words_spoken: a call starts when the words before it have been heard", async () => {
  let started = 0;
  const run = () => {
    started = performance.now();
  };
  const before = "I am going to open the big door for you right now.";
  const look = defineTool({ ...LOOK, startWhen: "words_spoken", run });
  await using talk = await heard({
    tools: { look },
    steps: [reply([text(before), toolUse("look")]), reply([text("It is open.")])],
  });
  // espeak-ng takes about 2.5 s for the words before it.
  expect(talk.user.secondsHeard(talk.asked, started)).toBeGreaterThan(1.5);
});
