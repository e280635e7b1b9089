import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, type Tool } from "../../src/tool/define-tool.ts";
import { httpError, reply, text, toolUse, type Step } from "../../src/model-server/step.ts";
import { secondsOf } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

beforeAll(() => warmUp());

const LOOK = { description: "Looks.", input: z.object({}) };

interface Asked {
  readonly tools: Readonly<Record<string, Tool>>;
  readonly steps: readonly Step[];
}

/** Asks a question in writing. */
async function ask({ tools, steps }: Asked) {
  const voice = await VoiceAgent.start({ tools, policy: { maxSteps: 2 } });
  const user = await voice.speaker("user");
  voice.agent.model.script([...steps]);
  const asked = performance.now();
  await user.client.say("Look for it");
  return { user, asked, [Symbol.asyncDispose]: () => voice[Symbol.asyncDispose]() };
}

/** Asks a question, and waits until everything that is said in reply has been heard. */
async function hearReply(question: Asked) {
  const talk = await ask(question);
  const { user, asked } = talk;
  await user.untilSound(asked);
  await user.client.next("assistant_sentence", ({ isFinal }) => isFinal, 20_000);
  await user.untilSilence();
  return talk;
}

/** Starts a session that uses a tool. The tool runs until the test releases it. */
async function startSlowTool(more: {
  readonly filler?: string;
  readonly fillerAfterMs?: number;
  readonly noticeAfterMs?: number;
}) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const look = defineTool({ ...LOOK, ...more, run: () => promise });
  const talk = await ask({ tools: { look }, steps: [reply([toolUse("look")]), reply([text("Here it is.")])] });
  const release = () => {
    resolve("found");
    return performance.now();
  };
  return { ...talk, release };
}

test("a filler is heard once, however long the tool takes", async () => {
  await using talk = await startSlowTool({ filler: "One moment.", fillerAfterMs: 300 });
  const { user, asked } = talk;
  await user.untilSound(asked);
  await user.untilSilence();
  const released = talk.release();
  expect(user.secondsHeard(asked, released)).toBeLessThan(1.5 * (await secondsOf("One moment.")));
  await user.client.next("assistant_sentence", ({ text: said }) => said === "Here it is.");
  await user.untilHeard(0.5 * (await secondsOf("Here it is.")), released);
});

test("the worker apologizes for a slow call, after a while", async () => {
  await using talk = await startSlowTool({ noticeAfterMs: 1_500 });
  const { user, asked } = talk;
  expect((await user.untilSound(asked)) - asked).toBeGreaterThan(1_500);
  await user.untilSilence();
  const notice = await secondsOf("This is taking a little longer.");
  expect(user.secondsHeard(asked, talk.release())).toBeLessThan(1.5 * notice);
});

const quick = defineTool({ ...LOOK, run: () => "found" });
const endless = defineTool({ ...LOOK, timeoutMs: 500, run: (_input, { signal }) => sleep(60_000, "", { signal }) });

test.each([
  ["a refusal", quick, [reply([], { stopReason: "refusal" })]],
  ["too many steps", quick, [reply([toolUse("look")]), reply([toolUse("look")])]],
  ["a timeout that the model says nothing about", endless, [reply([toolUse("look")]), reply([])]],
  ["a turn that failed", quick, [httpError(400, "invalid_request_error")]],
] as const)("%s is heard", async (_what, look, steps) => {
  await using talk = await hearReply({ tools: { look }, steps });
  expect(talk.user.secondsHeard(talk.asked)).toBeGreaterThan(0.5);
});

test("words_spoken: a call starts when the words before it have been heard", async () => {
  let started = 0;
  const run = () => {
    started = performance.now();
  };
  const before = "I am going to open the big door for you right now.";
  const look = defineTool({ ...LOOK, startWhen: "words_spoken", run });
  await using talk = await hearReply({
    tools: { look },
    steps: [reply([text(before), toolUse("look")]), reply([text("It is open.")])],
  });
  expect(talk.user.secondsHeard(talk.asked, started)).toBeGreaterThan(0.6 * (await secondsOf(before)));
});
