import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { type AgentOptions, TestAgent } from "../../support/agent.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";
import { announced, scriptOf } from "../../support/client-tool.ts";
import { lastContent } from "../../support/model-view.ts";

interface CallOptions extends AgentOptions {
  readonly configuration?: Parameters<TestAgent["client"]>[1];
}

/**
 * An agent whose model calls a tool, and a client that has received the request. Both are closed when the test ends.
 */
async function openCall(name: string, { configuration = { tools: [announced(name)] }, ...options }: CallOptions = {}) {
  const agent = await TestAgent.start(options);
  onTestFinished(() => agent[Symbol.asyncDispose]());
  const user = await agent.client("user", configuration);
  agent.model.script(scriptOf(name));
  const id = await user.say("Go");
  return { agent, user, id, request: await user.next("tool_use_request") };
}

test("a client's error result reaches the model as an error, with the partial result", async () => {
  const { agent, user, id, request } = await openCall("scan");
  await user.answer(request.id, {
    success: false,
    errorCode: "execution_error",
    errorMessage: "Paper jam",
    result: { pages: 2 },
  });
  await user.answerTo(id);
  expect(lastContent(agent)).toBe('Paper jam\nPartial result: {"pages":2}');
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "execution_error", result: { pages: 2 } }]);
});

test("for a client that never answers the call times out at the deadline, and the client is told to stop", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", {
    features: ["tool_use_cancel"],
    tools: [announced("scan", { timeoutMs: 200 })],
  });
  agent.model.script(scriptOf("scan"));
  const startedAt = performance.now();
  await user.answerTo(await user.say("Go"));
  expect(performance.now() - startedAt).toBeGreaterThan(1_200);
  expect(lastContent(agent)).toBe("Tool execution timed out after 0.2s");
  expect(await user.next("tool_use_cancel")).toMatchObject({ reason: "timeout" });
});

test("an announced tool without a time has 30 s, whatever the config sets for server tools", async () => {
  const { user, id, request } = await openCall("scan", { policy: { toolTimeoutMs: 5_000 } });
  expect(request.timeoutMs).toBe(30_000);

  await user.answer(request.id, { success: true });
  await user.answerTo(id);
});

test("a call that its client reports as cancelled is cancelled on record", async () => {
  const { agent, user, id, request } = await openCall("scan");

  await user.answer(request.id, { success: false, errorCode: "cancelled", errorMessage: "Closed by hand" });
  await user.answerTo(id);

  expect(lastContent(agent)).toBe("Closed by hand");
  expect(await agent.calls()).toMatchObject([{ state: "cancelled", error_code: "cancelled" }]);
});

test("late and duplicate results are recorded and change nothing", async () => {
  const { agent, user, id, request } = await openCall("scan");
  await user.answer(request.id, { success: true, result: { first: true } });
  await user.answer(request.id, { success: true, result: { first: false } });
  await user.answerTo(id);
  await agent.leave();
  expect(await agent.calls()).toMatchObject([{ result: { first: true }, extra_answers: [{ kind: "duplicate" }] }]);
});

test("only the participant that received the request can answer", async () => {
  await using agent = await TestAgent.start();
  const phone = await agent.client("phone", { tools: [announced("scan", { scope: "room" })] });
  const laptop = await agent.client("laptop", { tools: [] });
  agent.model.script(scriptOf("scan"));
  const id = await laptop.say("Go");
  const request = await phone.next("tool_use_request");
  expect(laptop.all("tool_use_request")).toEqual([]);
  const forged = await laptop.answer(request.id, { success: true, result: { from: "laptop" } });
  await laptop.next("acknowledgement", (body) => body.acknowledgedStanzaId === forged);
  await phone.answer(request.id, { success: true, result: { from: "phone" } });
  await laptop.answerTo(id);
  await agent.leave();
  expect(await agent.calls()).toMatchObject([
    { result: { from: "phone" }, extra_answers: [{ kind: "wrong_participant" }] },
  ]);
});

test("a tool that nobody has is not offered, and a call to it is answered immediately", async () => {
  const read = defineTool({ description: "R.", input: z.object({}), execution: "client" });
  await using agent = await TestAgent.start({ tools: { read } });
  const user = await agent.client("user", { tools: [] });
  agent.model.script(scriptOf("read"));
  await user.answerTo(await user.say("Go"));
  expect(agent.model.requests[0]?.body["tools"] ?? []).toEqual([]);
  expect(user.all("tool_use_request")).toMatchObject([{ execution: "server" }]);
  expect(await agent.calls()).toMatchObject([{ error_code: "unknown_tool" }]);
});

test("a client that leaves and comes back within the grace period gets the same request again", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { tools: [announced("scan")] });
  const watcher = await agent.client("watcher", { tools: [] });
  agent.model.script(scriptOf("scan"));
  const id = await user.say("Go");
  const request = await user.next("tool_use_request");
  await user.leave();
  await using again = await Participant.join(agent.roomName, "user");
  await again.configure({ tools: [announced("scan")] });
  const repeated = await again.next("tool_use_request");
  expect(repeated.id).toBe(request.id);
  await again.answer(request.id, { success: true, result: { ok: 1 } });
  await watcher.answerTo(id);
  expect(lastContent(agent)).toBe('{"ok":1}');
});

test("a client's first message counts although LiveKit has not announced the client yet", async () => {
  await using agent = await TestAgent.start();
  await using user = await Participant.join(agent.roomName, "quiet", { canPublish: false });
  agent.model.script([reply([text("Hello.")])]);
  expect(await user.answerTo(await user.say("Hi"))).toBe("Hello.");
});

const both = (ran: string[]) =>
  defineTool({
    description: "B.",
    input: z.object({}),
    execution: "either",
    run: () => {
      ran.push("server");
      return "from the server";
    },
  });

test("an either tool runs on the client that announced it", async () => {
  const ran: string[] = [];
  const { agent, user, id, request } = await openCall("both", { tools: { both: both(ran) } });
  expect(request.execution).toBe("client");
  await user.answer(request.id, { success: true, result: { value: "from the client" } });
  await user.answerTo(id);
  expect([lastContent(agent), ran]).toEqual(["from the client", []]);
});

test("the server takes over an either tool that the client declines", async () => {
  const ran: string[] = [];
  const { agent, user, id, request } = await openCall("both", { tools: { both: both(ran) } });
  await user.answer(request.id, { success: false, errorCode: "unknown_tool" });
  await user.answerTo(id);
  expect([lastContent(agent), ran]).toEqual(["from the server", ["server"]]);
});

test.each([
  ["unknown_tool", "Tool 'scan' is not supported by this client"],
  ["unknown_tool", undefined],
  ["invalid_parameters", "parameters.page: expected a number"],
  ["no_paper", undefined],
])(
  "what a client reports about an either tool that only it has, %s (%s), is stored unchanged",
  async (code, message) => {
    const { agent, user, id, request } = await openCall("scan", {
      configuration: { tools: [announced("scan", { execution: "either" })] },
    });
    const error = { errorCode: code, ...(message !== undefined && { errorMessage: message }) };
    await user.answer(request.id, { success: false, ...error });
    await user.answer(request.id, { success: true });
    await user.answerTo(id);
    await agent.leave();
    expect(lastContent(agent)).toBe(message ?? code);
    expect(await agent.calls()).toMatchObject([
      { state: "error", error_code: code, error_message: message ?? code, extra_answers: [{ kind: "duplicate" }] },
    ]);
  },
);

test("an either tool that a client with unknown tools does not claim is taken over, and its late result does not count", async () => {
  const ran: string[] = [];
  const { agent, user, id, request } = await openCall("both", {
    configuration: { features: ["claims", "tool_use_cancel"] },
    tools: { both: both(ran) },
  });
  expect(request.execution).toBe("either");
  expect(await user.next("tool_use_cancel")).toMatchObject({ id: request.id, reason: "superseded" });
  await user.answer(request.id, { success: true, result: { value: "too late" } });
  await user.answerTo(id);
  expect([lastContent(agent), ran]).toEqual(["from the server", ["server"]]);
});

test("an either tool that the client claims is not run by the server", async () => {
  const ran: string[] = [];
  const { agent, user, id, request } = await openCall("both", {
    configuration: { features: ["claims"] },
    tools: { both: both(ran) },
  });
  const stanzaId = user.received.find(({ message }) => message.type === "tool_use_request")?.stanzaId ?? 0;
  await user.send({ type: "acknowledgement", body: { acknowledgedStanzaId: stanzaId, success: true } });
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  await user.answer(request.id, { success: true, result: { value: "from the client" } });
  await user.answerTo(id);
  expect([lastContent(agent), ran]).toEqual(["from the client", []]);
});

test.each([
  ["no tools", { tools: [] }],
  ["another tool", { tools: [announced("scan")] }],
])("a Configuration without tools makes a client's tools unknown again after one with %s", async (_what, earlier) => {
  const lamp = defineTool({ description: "L.", input: z.object({}), execution: "client" });
  await using agent = await TestAgent.start({ tools: { lamp } });
  const user = await agent.client("user", earlier);
  agent.model.script(scriptOf("lamp"));
  await user.configure({});

  await user.say("Go");

  expect(await user.next("tool_use_request")).toMatchObject({ toolName: "lamp", execution: "client" });
});
