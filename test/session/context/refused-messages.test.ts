import { expect, test } from "vitest";
import { httpError, reply, type Step, text } from "../../../src/model-server/step.ts";
import { createId } from "../../../src/lib/id.ts";
import { encodeEnvelope } from "../../../src/protocol/codec/codec.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { TestAgent } from "../../support/agent.ts";
import { messagesTo } from "../../support/model-view.ts";
import type { Participant } from "../../support/participant.ts";
import { PNG } from "../../support/pictures.ts";
import { billed } from "../spending/billed.ts";

type HttpError = Extract<Step, { kind: "http_error" }>;

const CONTEXT = { budgetTokens: 2_000, hardTokens: 8_000 };
const pictures = (count: number, data: Uint8Array = PNG) => Array.from({ length: count }, () => ({ data }));

async function ask(user: Participant, body: object): Promise<void> {
  const id = createId();
  await user.send({ type: "user_message", body: { id, ...body } } as never);
  await user.answerTo(id);
}

async function refused(user: Participant, body: object): Promise<number> {
  const id = createId();
  await user.send({ type: "user_message", body: { id, content: "Look", ...body } } as never);
  return (await user.next("error_message", ({ originatingId }) => originatingId === id)).code;
}

const sentMessages = (agent: TestAgent) =>
  messagesTo(agent).map(({ role, content }) => `${role}: ${JSON.stringify(content)}`);

test.each<[string, (user: Participant, agent: TestAgent) => Promise<number>, number]>([
  ["is too long", (user) => refused(user, { content: "log ".repeat(125_000) }), 413],
  ["has a picture that is none", (user) => refused(user, { attachments: pictures(1, Buffer.from("<svg/>")) }), 101],
  ["has too many pictures", (user) => refused(user, { attachments: pictures(LIMITS.contentBlocks + 1) }), 413],
  ["has a number that JSON has not", (user) => refused(user, { attachments: [{ text: "a", size: NaN }] }), 101],
  ["has an unreadable field", (user) => refused(user, { content: 7 }), 101],
  [
    "names another conversation",
    async (user) => {
      const message = { type: "user_message" as const, body: { id: "elsewhere", content: "Look" } };
      await user.sendBytes(encodeEnvelope({ stanzaId: 1_000, conversationId: "ac_other", message }));
      return (await user.next("error_message", ({ originatingId }) => originatingId === "elsewhere")).code;
    },
    201,
  ],
  [
    "the model's API refuses",
    (user, agent) => {
      agent.model.script([httpError(400)]);
      return refused(user, {});
    },
    202,
  ],
])("a message that %s does not change what the model is shown of earlier turns", async (_, refuse, code) => {
  await using agent = await TestAgent.start({ policy: { context: CONTEXT } as never });
  const user = await agent.client("user");
  agent.model.script([reply([text("Hello, Bob.")]), reply([text("Fine.")])]);
  await user.answerTo(await user.say("My name is Bob"));
  await user.answerTo(await user.say("How are you?"));
  const before = sentMessages(agent);

  expect(await refuse(user, agent)).toBe(code);
  agent.model.script([reply([text("Bob.")])]);
  expect(await user.answerTo(await user.say("What is my name?"))).toBe("Bob.");

  expect(sentMessages(agent).map(withoutMarks).slice(0, before.length)).toEqual(before.map(withoutMarks));
});

const refuses = (status: number, message: string): Step => ({ ...(httpError(status) as HttpError), message });

test.each<[string, Step]>([
  ["prompt that is too long", refuses(400, "prompt is too long: 9000 tokens > 8000 maximum")],
  ["request that is too large", refuses(413, "Request exceeds the maximum size")],
  ["message with too many pictures", refuses(400, "messages.3.content: too many images")],
])("a %s, even without all earlier turns, does not change what the model is shown of them", async (_, refusal) => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(({ body }, index) => {
    const last = (body["messages"] as unknown[]).at(-1);
    return JSON.stringify(last).length > 2_800 ? refusal : reply([text(`Answer ${index}.`)]);
  });
  for (const words of ["My name is Bob", "How are you?", "And you?"])
    await ask(user, { content: words, attachments: pictures(1) });
  const before = sentMessages(agent);

  await refused(user, { content: "log ".repeat(750), attachments: pictures(2) });
  await user.answerTo(await user.say("What is my name?"));
  expect(sentMessages(agent).map(withoutMarks).slice(0, before.length)).toEqual(before.map(withoutMarks));
  expect(sentMessages(agent).at(-1)).toContain("no longer shown");

  await refused(user, { content: "log ".repeat(750), attachments: pictures(2) });
  await agent.leave();
  await agent.join();
  await user.answerTo(await user.say("And now?"));
  expect(sentMessages(agent).map(withoutMarks).slice(0, before.length)).toEqual(before.map(withoutMarks));
});

test("a message that exceeds the budget does not change what the model is shown of earlier turns", async () => {
  await using agent = await TestAgent.start({ policy: { budget: { session: { tokens: 1_000 } } } });
  const user = await agent.client("user");
  const step = (words: string) => billed(words, { input: 500, output: 50 });
  agent.model.script([step("Hello, Bob."), step("Fine."), step("Bob.")]);
  await user.answerTo(await user.say("My name is Bob"));
  await user.answerTo(await user.say("How are you?"));
  const before = sentMessages(agent);

  await user.answerTo(await user.say("And now?"));
  expect(agent.model.requests).toHaveLength(2);
  await agent.sql`update spending set input_tokens = 0`;
  await user.answerTo(await user.say("What is my name?"));

  expect(sentMessages(agent).map(withoutMarks).slice(0, before.length)).toEqual(before.map(withoutMarks));
});

/** Removes the prompt cache's marks, which move as the conversation grows. */
const withoutMarks = (message: string) => message.replaceAll(/,?"cache_control":\{[^}]*\}/gu, "");
