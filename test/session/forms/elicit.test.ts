import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { ASK_USER, ASK_USER_SCHEMA } from "../../../src/protocol/forms/form.ts";
import { defineTool, type Elicitation } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { announced } from "../../support/client-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { toolResults } from "../../support/model-view.ts";

const BOOK = reply([toolUse("book")]);
const DONE = reply([text("Done.")]);
const MESSAGE = "For how many people?";
const SCHEMA = {
  type: "object",
  properties: { guests: { type: "integer", minimum: 1, maximum: 12 }, name: { type: "string" } },
  required: ["guests"],
} as const;
const ACCEPTED = { action: "accept", content: { guests: 4 } } as const;

interface Options {
  readonly timeoutMs?: number;
  readonly idempotent?: boolean;
  readonly schema?: Elicitation<unknown>["schema"];
}

/**
 * A tool that asks for the details and then books a table. `answers` are the answers that it received, `begun` counts
 * its runs.
 */
function booking({ schema = SCHEMA, ...options }: Options = {}) {
  const answers: unknown[] = [];
  const seen = { begun: 0 };
  const tool = defineTool({
    description: "Books a table.",
    input: z.object({}),
    ...options,
    run: async (_, { elicit }) => {
      seen.begun += 1;
      const answer = await elicit({ message: MESSAGE, schema });
      answers.push(answer);
      return answer;
    },
  });
  return { tool, answers, seen };
}

/** A client that shows forms. */
const device = (more: object = {}) => ({
  features: ["tool_use_cancel", "tool_call_state"],
  tools: [announced(ASK_USER, { inputSchema: ASK_USER_SCHEMA, timeoutMs: 60_000, ...more })],
});

async function start(options: Options & { readonly configuration?: object } = {}) {
  const { configuration = device(), ...toolOptions } = options;
  const { tool, ...seen } = booking(toolOptions);
  const agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user", configuration);
  const isForm = ({ toolName }: { readonly toolName: string }) => toolName === ASK_USER;
  return {
    ...seen,
    agent,
    user,
    /** The n-th form that the client was asked to show. */
    form: async (count = 1) => {
      await user.until(() => user.all("tool_use_request").filter(isForm).length >= count, "a form");
      return user.all("tool_use_request").filter(isForm)[count - 1] ?? { id: "", parameters: {} };
    },
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}

test("a running tool makes its participant's device show a form, its clock stops meanwhile, and it receives the content", async () => {
  await using talk = await start({ timeoutMs: 300 });
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");

  const form = await talk.form();
  expect(form).toMatchObject({ execution: "client", parameters: { message: MESSAGE, requestedSchema: SCHEMA } });
  await sleep(400);
  await user.answer(form.id, { success: true, result: ACCEPTED });

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(talk.answers).toEqual([ACCEPTED]);
  expect(toolResults(agent)).toEqual([{ content: JSON.stringify(ACCEPTED), isError: false }]);
  expect(agent.model.rejections).toEqual([]);
});

test("the form is a separate call on record, and its states are shown to the client", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  const { id } = await talk.form();
  await user.answer(id, { success: true, result: ACCEPTED });
  await user.answerTo(messageId);

  expect(await agent.calls()).toMatchObject([
    { name: "book", state: "success" },
    { name: ASK_USER, state: "success", execution_resolved: "client", result: ACCEPTED },
  ]);
  const states = user.all("tool_call_state").filter(({ callId }) => callId === id);
  expect(states.map(({ status }) => status)).toEqual(["pending", "running", "success"]);
  const types = async () => (await agent.blocks()).map(({ block_type: type }) => type);
  await expect.poll(types).toEqual(["tool_use", "tool_result", "text"]);
});

test.each([
  ["decline", { action: "decline" }],
  ["cancel", { action: "cancel" }],
  ["something else", { value: "well" }],
])("a client that answers %s returns no content", async (kind, result) => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  await user.answer((await talk.form()).id, { success: true, result });

  await user.answerTo(messageId);
  expect(talk.answers).toEqual([{ action: kind === "decline" ? "decline" : "cancel" }]);
});

test("invalid content is asked for again, with the error", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  await user.answer((await talk.form()).id, { success: true, result: { action: "accept", content: { guests: 90 } } });

  const again = await talk.form(2);
  expect(again.parameters).toMatchObject({ message: MESSAGE, problem: expect.stringContaining('"guests"') });
  await user.answer(again.id, { success: true, result: ACCEPTED });

  await user.answerTo(messageId);
  expect(talk.answers).toEqual([ACCEPTED]);
});

test("after three invalid answers, the form is cancelled", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  for (const count of [1, 2, 3])
    await user.answer((await talk.form(count)).id, { success: true, result: { action: "accept", content: {} } });

  await user.answerTo(messageId);
  expect(talk.answers).toEqual([{ action: "cancel" }]);
});

test("a zod schema has the last word, and the tool receives its output", async () => {
  const schema = z.object({ code: z.string().regex(/^[a-z]+$/), loud: z.boolean().default(true) });
  await using talk = await start({ schema });
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  await user.answer((await talk.form()).id, { success: true, result: { action: "accept", content: { code: "A1" } } });
  await user.answer((await talk.form(2)).id, { success: true, result: { action: "accept", content: { code: "ab" } } });

  await user.answerTo(messageId);
  expect(talk.answers).toEqual([{ action: "accept", content: { code: "ab", loud: true } }]);
});

test("for multiple choices the client returns a list, and a value not among them is asked for again", async () => {
  const schema = z.object({ extras: z.array(z.enum(["bread", "olives", "nuts"])).min(1) });
  await using talk = await start({ schema });
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  for (const [index, extras] of [["bread", "caviar"], [], ["nuts", "bread"]].entries()) {
    const { id } = await talk.form(index + 1);
    await user.answer(id, { success: true, result: { action: "accept", content: { extras } } });
  }

  await user.answerTo(messageId);
  expect(talk.answers).toEqual([{ action: "accept", content: { extras: ["nuts", "bread"] } }]);
});

test("silence is a cancel, and the client is told that its form is closed", async () => {
  await using talk = await start({ configuration: device({ timeoutMs: 100 }) });
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  const { id } = await talk.form();

  await user.answerTo(messageId);
  expect(talk.answers).toEqual([{ action: "cancel" }]);
  expect(await user.next("tool_use_cancel")).toEqual({ id, reason: "timeout" });
});

test("a stop ends the call, withdraws the form, and a late answer changes nothing", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK]);
  const messageId = await user.say("Book a table");
  const { id } = await talk.form();
  await user.send({ type: "control_stop", body: {} });

  await user.answerTo(messageId);
  expect(await user.next("tool_use_cancel", (cancel) => cancel.id === id)).toMatchObject({ id });
  await user.answer(id, { success: true, result: ACCEPTED });
  await expect
    .poll(() => agent.calls())
    .toMatchObject([{ state: "cancelled" }, { state: "cancelled", extra_answers: [{ kind: "late" }] }]);
  expect(talk.answers).toEqual([]);
});

test("a new message is answered while a form is open, and the outcome is reported later", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK, reply([text("Yes?")]), reply([text("It is booked.")])]);
  await user.say("Book a table");
  const { id } = await talk.form();

  expect(await user.answerTo(await user.say("Are you there?"))).toBe("Yes?");
  const receipt = "Waiting for the participant's answer. Its outcome will be reported when it arrives.";
  expect(JSON.stringify(agent.model.requests[1]?.body)).toContain(receipt);
  await user.answer(id, { success: true, result: ACCEPTED });
  await user.next("assistant_sentence", ({ text: said }) => said === "It is booked.");
  expect(toolResults(agent).at(-1)).toEqual({ content: JSON.stringify(ACCEPTED), isError: false });
  expect(agent.model.rejections).toEqual([]);
});

test("a client that comes back is asked again under the same id", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  await user.say("Book a table");
  const { id } = await talk.form();
  await user.leave();
  await using back = await agent.client("user", device());
  const again = await back.next("tool_use_request", ({ toolName }) => toolName === ASK_USER);

  expect(again.id).toBe(id);
  await back.answer(again.id, { success: true, result: ACCEPTED });
  await back.next("assistant_sentence", ({ text: said }) => said === "Done.");
  expect(talk.answers).toEqual([ACCEPTED]);
});

test("nobody else's device is asked, and nobody else's answer counts", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  const other = await agent.client("other", device({ scope: "room" }));
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  const { id } = await talk.form();
  await other.answer(id, { success: true, result: { action: "accept", content: { guests: 1 } } });
  const extra = () => agent.sql`select extra_answers -> 0 ->> 'kind' as kind from tool_calls where id = ${id}`;
  await expect.poll(extra).toEqual([{ kind: "wrong_participant" }]);
  await user.answer(id, { success: true, result: ACCEPTED });

  await user.answerTo(messageId);
  expect(other.all("tool_use_request").map(({ toolName }) => toolName)).toEqual(["book"]);
  expect(talk.answers).toEqual([ACCEPTED]);
});

test("a schema that no form can show is an error in the tool", async () => {
  await using talk = await start({ schema: { type: "object", properties: { list: { type: "array" } } } });
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);

  await user.answerTo(await user.say("Book a table"));
  const expected = "expected a string, number, integer, boolean, enum, or array of an enum";
  const content = `elicit: the form's schema: properties.list: ${expected}`;
  expect(toolResults(agent)).toEqual([{ content, isError: true }]);
});

test("the model uses the client's own ask_user", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([reply([toolUse(ASK_USER, { message: MESSAGE, requestedSchema: SCHEMA })]), DONE]);
  const messageId = await user.say("Ask me");
  await user.answer((await talk.form()).id, { success: true, result: ACCEPTED });

  await user.answerTo(messageId);
  expect(toolResults(agent)).toEqual([{ content: JSON.stringify(ACCEPTED), isError: false }]);
  expect(agent.model.rejections).toEqual([]);
});

test("a worker that stops tells the client that its form is closed", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK]);
  await user.say("Book a table");
  const { id } = await talk.form();
  await agent.leave();

  expect(await user.next("tool_use_cancel")).toEqual({ id, reason: "closed" });
});

/**
 * Replaces the worker as if it had died: closes the session, reopens in the database what this has ended, and lets a
 * new worker join.
 */
async function die({ agent, user }: Pick<Awaited<ReturnType<typeof start>>, "agent" | "user">): Promise<void> {
  await agent.leave();
  await agent.sql`
    update tool_calls set state = 'running', error_code = null, error_message = null, finished_at = null
    where state = 'error'`;
  await agent.sql`update turns set state = 'running', finished_at = null`;
  await agent.sql`delete from turn_blocks where block_type = 'tool_result'`;
  user.received.length = 0;
  await agent.join();
  await user.configure(device());
}

test("if a worker dies while a form is open, the next one continues with the same form", async () => {
  await using talk = await start({ idempotent: true });
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  await user.say("Book a table");
  const { id } = await talk.form();

  await die(talk);
  const again = await talk.form();
  expect(again.id).toBe(id);
  await user.answer(id, { success: true, result: ACCEPTED });
  await user.next("assistant_sentence", ({ text: said }) => said === "Done.");

  expect(talk.seen.begun).toBe(2);
  expect(talk.answers.at(-1)).toEqual(ACCEPTED);
  expect(await agent.calls()).toMatchObject([{ state: "success" }, { name: ASK_USER, state: "success" }]);
});

test("fields answered before a worker died are not asked again", async () => {
  const seen: unknown[] = [];
  const tool = defineTool({
    description: "Asks twice.",
    input: z.object({}),
    idempotent: true,
    run: async (_, { elicit }) => {
      for (const message of ["First?", "Second?"]) seen.push(await elicit({ message, schema: SCHEMA }));
    },
  });
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user", device());
  agent.model.script([BOOK, DONE]);
  const formOf = (message: string) =>
    user.next("tool_use_request", ({ parameters }) => parameters["message"] === message);
  await user.say("Ask me");
  await user.answer((await formOf("First?")).id, { success: true, result: ACCEPTED });
  await formOf("Second?");

  await die({ agent, user });
  await user.answer((await formOf("Second?")).id, { success: true, result: { action: "decline" } });
  await user.next("assistant_sentence", ({ text: said }) => said === "Done.");

  expect(seen.slice(-2)).toEqual([ACCEPTED, { action: "decline" }]);
  expect(user.all("tool_use_request").some(({ parameters }) => parameters["message"] === "First?")).toBe(false);
});

test("a form whose tool fails meanwhile is withdrawn, and not reported as cancelled by anybody", async () => {
  const isShown = Promise.withResolvers<void>();
  const tool = defineTool({
    description: "Asks, and does not wait.",
    input: z.object({}),
    run: async (_, { elicit }) => {
      elicit({ message: MESSAGE, schema: SCHEMA }).catch(() => {});
      await isShown.promise;
      throw new Error("The kitchen is closed");
    },
  });
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user", device());
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  const { id } = await user.next("tool_use_request", ({ toolName }) => toolName === ASK_USER);
  isShown.resolve();
  await user.answerTo(messageId);

  expect(await user.next("tool_use_cancel")).toEqual({ id, reason: "superseded" });
  const ends = async () => (await agent.calls()).map(({ state, error_code: code }) => `${state} ${code}`);
  await expect.poll(ends).toEqual(["error execution_error", "error outcome_unknown"]);
});

test("if a tool may not run again, the next worker withdraws its form", async () => {
  await using talk = await start();
  const { agent, user } = talk;
  agent.model.script([BOOK, DONE]);
  await user.say("Book a table");
  const { id } = await talk.form();

  await die(talk);
  expect(await user.next("tool_use_cancel")).toEqual({ id, reason: "superseded" });
  await user.next("assistant_sentence", ({ text: said }) => said === "Done.");

  expect(talk.seen.begun).toBe(1);
  expect(await agent.calls()).toMatchObject([
    { error_code: "outcome_unknown" },
    { state: "error", error_code: "outcome_unknown" },
  ]);
});
