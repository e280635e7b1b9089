import { expect, test } from "vitest";
import { z } from "zod";
import type { Hooks } from "../../../src/agent/hooks.ts";
import { spokenTurns } from "../../../src/http/transcript/write-transcript.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { eraseParticipant } from "../../../src/store/removal/erase-participant.ts";
import { loadState } from "../../../src/store/sessions/session-state.ts";
import { defineTool, type ToolContext } from "../../../src/tool/define-tool.ts";
import { TestAgent, type AgentOptions } from "../../support/agent.ts";

const schema = z.object({ order: z.array(z.string()).default([]) });
type Order = z.output<typeof schema>;

const add = ({ session }: Pick<ToolContext, "session">, item: string) =>
  session.update((state) => ({ order: [...(state as Order).order, item] }));

const order = defineTool({
  description: "Orders something.",
  input: z.object({ item: z.string() }),
  run: ({ item }, context) => {
    add(context, item);
    return context.session.get();
  },
});

const start = (options: AgentOptions = {}) =>
  TestAgent.start({ tools: { order }, policy: { state: schema }, ...options });

async function storedState(agent: TestAgent): Promise<JsonObject | undefined> {
  const [session] = await agent.sql<{ id: string }[]>`select id from sessions order by created_at desc limit 1`;
  return (await loadState(agent.sql, { sessionId: session?.id ?? "" })).state;
}

const ordering = (...items: string[]) => [
  reply(items.map((item) => toolUse("order", { item }))),
  reply([text(`Added ${items.join(" and ")}.`)]),
];

test("tools change the state, and the change is stored with the call's result", async () => {
  await using agent = await start();
  const user = await agent.client("ann");
  agent.model.script([...ordering("tea"), ...ordering("cake")]);

  await user.answerTo(await user.say("A tea"));
  await user.answerTo(await user.say("And a cake"));

  expect(await storedState(agent)).toEqual({ order: ["tea", "cake"] });
  expect(await agent.calls()).toMatchObject([{ result: { order: ["tea"] } }, { result: { order: ["tea", "cake"] } }]);
});

test("parallel calls do not overwrite each other's changes", async () => {
  await using agent = await start();
  const user = await agent.client("ann");
  agent.model.script(ordering("tea", "cake", "soup", "milk"));

  await user.answerTo(await user.say("A tea, a cake, a soup and a milk"));

  const state = (await storedState(agent)) as Order;
  expect(state.order.toSorted()).toEqual(["cake", "milk", "soup", "tea"]);
});

test("a call that fails or times out changes nothing, even if its tool goes on", async () => {
  const afterTheEnd = Promise.withResolvers<unknown>();
  const fail = defineTool({
    description: "Fails.",
    input: z.object({}),
    run: (_input, context) => {
      add(context, "nothing");
      throw new Error("There is none");
    },
  });
  const hang = defineTool({
    description: "Takes too long.",
    input: z.object({}),
    timeoutMs: 100,
    run: async (_input, context) => {
      add(context, "early");
      await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
      try {
        add(context, "late");
      } catch (error) {
        afterTheEnd.resolve(error);
      }
    },
  });
  await using agent = await start({ tools: { order, fail, hang } });
  const user = await agent.client("ann");
  agent.model.script([reply([toolUse("fail", {}), toolUse("hang", {})]), reply([text("Sorry.")]), ...ordering("tea")]);

  await user.answerTo(await user.say("Try"));
  expect(await storedState(agent)).toBeUndefined();
  await user.answerTo(await user.say("A tea"));

  expect(await storedState(agent)).toEqual({ order: ["tea"] });
  expect(String(await afterTheEnd.promise)).toContain("The call has ended");
});

test("a state that does not match the schema is refused with the field's name, and the call fails", async () => {
  const spoil = defineTool({
    description: "Spoils it.",
    input: z.object({}),
    run: (_input, { session }) => session.set({ order: "tea" } as never),
  });
  await using agent = await start({ tools: { spoil } });
  const user = await agent.client("ann");
  agent.model.script([reply([toolUse("spoil", {})]), reply([text("Sorry.")])]);

  await user.answerTo(await user.say("Spoil it"));

  const [call] = await agent.calls();
  expect(call).toMatchObject({ state: "error", error_code: "execution_error" });
  expect(call?.error_message).toMatch(/^session state: order: .*expected array/);
  expect(await storedState(agent)).toBeUndefined();
});

test("an edit and a regenerated answer go back to the state before, and this outlasts a restart", async () => {
  await using agent = await start();
  const user = await agent.client("ann");
  agent.model.script([
    ...ordering("tea"),
    ...ordering("cake"),
    ...ordering("soup"),
    ...ordering("pie"),
    ...ordering("milk"),
  ]);
  await user.answerTo(await user.say("A tea"));
  const second = await user.say("A cake");
  await user.answerTo(second);
  await user.answerTo(await user.say("A soup"));
  expect(await storedState(agent)).toEqual({ order: ["tea", "cake", "soup"] });

  const body = { targetId: second, mode: "edit", newContent: "A pie" } as const;
  await user.send({ type: "control_variation", body });
  await user.next("assistant_sentence", ({ text: said }) => said === "Added pie.");
  expect(await storedState(agent)).toEqual({ order: ["tea", "pie"] });

  await agent.leave();
  await agent.join();
  await user.configure({});
  await user.send({ type: "control_variation", body: { targetId: second, mode: "regenerate" } });
  await user.next("assistant_sentence", ({ text: said }) => said === "Added milk.");

  expect(await storedState(agent)).toEqual({ order: ["tea", "milk"] });
});

test("the change of a background call from an earlier turn survives an edit", async () => {
  const done = Promise.withResolvers<void>();
  const bill = defineTool({
    description: "Writes a bill.",
    input: z.object({}),
    background: true,
    onResult: "wait",
    run: async (_input, { session }) => {
      await done.promise;
      session.update((state) => ({ ...state, bill: "1" }));
    },
  });
  await using agent = await start({ tools: { order, bill }, policy: { state: schema.loose() } });
  const user = await agent.client("ann");
  agent.model.script([
    reply([toolUse("bill", {})]),
    reply([text("Soon.")]),
    ...ordering("tea"),
    reply([text("Nothing then.")]),
  ]);
  await user.answerTo(await user.say("The bill"));
  const second = await user.say("A tea");
  await user.answerTo(second);
  done.resolve();
  await expect.poll(() => storedState(agent)).toEqual({ order: ["tea"], bill: "1" });

  await user.send({ type: "control_variation", body: { targetId: second, mode: "edit", newContent: "No tea" } });
  await user.next("assistant_sentence", ({ text: said }) => said === "Nothing then.");

  await expect.poll(() => storedState(agent)).toEqual({ order: [], bill: "1" });
});

test("the next worker continues with the state, and a new session of the same room begins without it", async () => {
  await using agent = await start({ hasHooks: true, continueConversation: false });
  const user = await agent.client("ann");
  agent.model.script([...ordering("tea"), ...ordering("cake")]);
  await user.answerTo(await user.say("A tea"));
  await agent.leave();
  await agent.join();
  await user.configure({});
  await user.answerTo(await user.say("A cake"));
  expect(await storedState(agent)).toEqual({ order: ["tea", "cake"] });

  await agent.deleteRoom();
  await agent.join();
  const next = await agent.client("bob");
  agent.model.script(ordering("milk"));
  await next.answerTo(await next.say("A milk"));

  expect(await storedState(agent)).toEqual({ order: ["milk"] });
});

test("a worker that has lost its session changes nothing", async () => {
  const started = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const slow = defineTool({
    description: "Orders slowly.",
    input: z.object({}),
    run: async (_input, context) => {
      started.resolve();
      await done.promise;
      add(context, "stale");
    },
  });
  await using agent = await start({ tools: { slow } });
  const user = await agent.client("ann");
  agent.model.script([reply([toolUse("slow", {})])]);
  await user.say("Slowly");
  await started.promise;
  // As if another worker had claimed the session.
  await agent.sql`update sessions set epoch = epoch + 1`;
  done.resolve();
  await agent.leave();

  expect(await storedState(agent)).toBeUndefined();
  expect(await agent.sql`select from state_changes`).toHaveLength(0);
});

test("instructions receive the state and are written again when it has changed", async () => {
  const instructions = ({ state }: { state: unknown }) => `The order is: ${(state as Order).order.join(", ")}.`;
  await using agent = await start({ agent: { instructions } });
  const user = await agent.client("ann");
  agent.model.script([...ordering("tea"), reply([text("One tea.")])]);
  await user.answerTo(await user.say("A tea"));
  await user.answerTo(await user.say("What did I order?"));

  const prompts = agent.model.requests.map(({ body }) => JSON.stringify(body["system"]));
  expect(prompts[0]).toContain("The order is: .");
  expect(prompts.at(-1)).toContain("The order is: tea.");
});

test("a tool's context names the agent and has the participant's attributes", async () => {
  let seen: Pick<ToolContext, "agent" | "attributes"> | undefined;
  const look = defineTool({
    description: "Looks.",
    input: z.object({}),
    run: (_input, { agent: name, attributes }) => void (seen = { agent: name, attributes }),
  });
  await using agent = await start({ tools: { look } });
  const user = await agent.client("ann", {}, { attributes: { plan: "gold", "lk.secret": "x" } });
  agent.model.script([reply([toolUse("look", {})]), reply([text("Seen.")])]);

  await user.answerTo(await user.say("Look"));

  expect(seen).toEqual({ agent: "default", attributes: { plan: "gold" } });
});

test("hooks read and change the state, and the session's end contains it", async () => {
  const ended = Promise.withResolvers<unknown>();
  const seen: unknown[] = [];
  const hooks: Hooks = {
    onSessionStart: (_data, { session }) => session.update((state) => ({ ...state, order: ["menu"] })),
    onTurnEnd: (_data, { session }) => void seen.push(session.get()),
    onSessionEnd: ({ state }) => ended.resolve(state),
  };
  await using agent = await start({ hasHooks: true, agent: hooks });
  const user = await agent.client("ann");
  await expect.poll(() => storedState(agent)).toEqual({ order: ["menu"] });
  agent.model.script(ordering("tea"));

  await user.answerTo(await user.say("A tea"));
  await expect.poll(() => seen).toEqual([{ order: ["menu", "tea"] }]);
  await agent.deleteRoom();

  expect(await ended.promise).toEqual({ order: ["menu", "tea"] });
});

test("what onTurnEnd changed is undone when its turn is replaced", async () => {
  const hooks: Hooks = {
    onTurnEnd: (_data, { session }) => session.update((state) => ({ order: [...(state as Order).order, "tip"] })),
  };
  await using agent = await start({ hasHooks: true, agent: hooks });
  const user = await agent.client("ann");
  agent.model.script([...ordering("tea"), ...ordering("cake")]);
  const id = await user.say("A tea");
  await user.answerTo(id);
  await expect.poll(() => storedState(agent)).toEqual({ order: ["tea", "tip"] });

  await user.send({ type: "control_variation", body: { targetId: id, mode: "regenerate" } });
  await user.next("assistant_sentence", ({ text: said }) => said === "Added cake.");

  await expect.poll(() => storedState(agent)).toEqual({ order: ["cake", "tip"] });
});

test("a transcript shows how each call changed the state, also in a replaced turn", async () => {
  await using agent = await start();
  const user = await agent.client("ann");
  agent.model.script([...ordering("tea"), ...ordering("cake")]);
  const id = await user.say("A tea");
  await user.answerTo(id);
  await user.send({ type: "control_variation", body: { targetId: id, mode: "regenerate" } });
  await user.next("assistant_sentence", ({ text: said }) => said === "Added cake.");
  await agent.leave();

  const [session] = await agent.sql<{ id: string }[]>`select id from sessions`;
  const turns = await Array.fromAsync(spokenTurns(agent.sql, { sessionId: session?.id ?? "", after: 0, last: 2 }));

  expect(turns).toMatchObject([
    { isReplaced: true, answer: [{ stateChange: { order: { before: [], after: ["tea"] } } }, {}] },
    { answer: [{ stateChange: { order: { before: [], after: ["cake"] } } }, {}] },
  ]);
});

test("erasing a person removes the states of the person's sessions", async () => {
  await using agent = await start();
  const user = await agent.client("ann");
  agent.model.script(ordering("tea"));
  await user.answerTo(await user.say("A tea"));
  await agent.leave();

  await eraseParticipant(agent.sql, { identity: "ann" });

  expect(await agent.sql`select from session_states`).toHaveLength(0);
  expect(await agent.sql`select from state_changes`).toHaveLength(0);
});

test("a stored state that no longer matches the schema is replaced by the initial state", async () => {
  await using agent = await start();
  const user = await agent.client("ann");
  agent.model.script([...ordering("tea"), ...ordering("cake")]);
  await user.answerTo(await user.say("A tea"));
  await agent.leave();
  await agent.sql`update session_states set state = '{"order": 5}'`;

  await agent.join();
  await user.configure({});
  await user.answerTo(await user.say("A cake"));

  expect(await storedState(agent)).toEqual({ order: ["cake"] });
});
