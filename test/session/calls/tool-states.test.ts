import { expect, test, vi } from "vitest";
import { z } from "zod";
import type { Message, MessageBody } from "../../../src/protocol/messages/messages.ts";
import { ToolStates } from "../../../src/session/calls/tool-states.ts";
import { defineTool, type ToolContext } from "../../../src/tool/define-tool.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { success } from "../../../src/tool/outcome.ts";
import { TestAgent } from "../../support/agent.ts";
import { callOf } from "../../support/call.ts";
import { cpuMs } from "../../support/cpu-ms.ts";
import { decode, encode, fakeParticipant, FakeSession, lastUserText } from "../../support/doubles/fake-session.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";
import { McpBench, STDIO_SERVER } from "../../tool/mcp/mcp-bench.ts";

type State = MessageBody<"tool_call_state">;

const features = ["tool_call_state"];
const clientTool = { name: "scan", description: "Scans.", inputSchema: { type: "object" } };
const script = [reply([toolUse("scan", { page: 1 }, "toolu_1")]), reply([text("Done.")])];

/** A server tool whose run the test controls. */
function heldTool(stateDetail?: "full" | "name" | "off") {
  const started = Promise.withResolvers<Pick<ToolContext, "log" | "progress">>();
  const end = Promise.withResolvers<unknown>();
  const tool = defineTool({
    description: "Scans.",
    input: z.object({ page: z.number().optional() }),
    ...(stateDetail && { stateDetail }),
    run: (_input, context) => {
      started.resolve(context);
      return end.promise;
    },
  });
  return { tool, started: started.promise, end: (value: unknown) => end.resolve(value) };
}

const states = (participant: Participant) => participant.all("tool_call_state");
const revisionOf = ({ metadataJson }: State) => (JSON.parse(metadataJson) as { revision: number }).revision;
const statuses = (participant: Participant) =>
  states(participant)
    .map(({ status }) => status)
    .filter((status, index, all) => status !== all[index - 1]);
const isEnded = ({ status }: State) => status === "success" || status === "error" || status === "cancelled";

test("the states of a server tool's call are shown, with logs and progress while it runs", async () => {
  const { tool, started, end } = heldTool();
  await using agent = await TestAgent.start({ tools: { scan: tool } });
  const user = await agent.client("user", { features });
  agent.model.script(script);
  const messageId = await user.say("Go");
  const { log, progress } = await started;

  log("page 1");
  await user.next("tool_call_state", ({ logs }) => logs.length === 1);
  log("page 2");
  progress(0.5);
  const running = await user.next("tool_call_state", ({ logs }) => logs.length === 2);
  end({ pages: 2 });
  const last = await user.next("tool_call_state", isEnded);
  await user.answerTo(messageId);

  const request = await user.next("tool_use_request");
  expect(statuses(user)).toEqual(["pending", "running", "success"]);
  expect(running).toMatchObject({ status: "running", logs: ["page 1", "page 2"] });
  expect(JSON.parse(running.metadataJson)).toMatchObject({ execution: "server", progress: 0.5, participant: "user" });
  expect(last).toEqual({
    id: request.id,
    callId: request.id,
    name: "scan",
    status: "success",
    inputJson: '{"page":1}',
    output: '{"pages":2}',
    logs: ["page 1", "page 2"],
    metadataJson: expect.stringContaining('"toolUseId":"toolu_1"'),
    startedAt: expect.any(Number),
    finishedAt: expect.any(Number),
  });
  const revisions = states(user).map(revisionOf);
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
});

test("a client's updates about a call that it runs are shown to everyone who asked, and stored", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { features: ["tool_use_progress"], tools: [clientTool] });
  const watcher = await agent.client("watcher", { features, tools: [] });
  agent.model.script(script);
  await user.say("Go");
  const { id } = await user.next("tool_use_request");

  await user.send({ type: "tool_use_progress", body: { id, log: "warming up\nscanning", progress: 0.25 } });
  const running = await watcher.next("tool_call_state", ({ logs }) => logs.length === 2);
  await user.answer(id, { success: false, errorCode: "jammed", errorMessage: "Paper jam", result: { pages: 1 } });
  const last = await watcher.next("tool_call_state", isEnded);
  await user.next("assistant_sentence", ({ isFinal }) => isFinal);

  expect(JSON.parse(running.metadataJson)).toMatchObject({ execution: "client", addressee: "user", progress: 0.25 });
  expect(last).toMatchObject({ status: "error", error: "Paper jam", output: '{"pages":1}' });
  expect(last.logs).toEqual(["warming up", "scanning"]);
  expect(states(user)).toEqual([]);
  const [row] = await agent.sql`select logs, progress, revision from tool_calls`;
  expect(row).toEqual({ logs: last.logs, progress: 0.25, revision: revisionOf(last) });
});

test("a participant that was not asked cannot write into a call's log", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { features, tools: [clientTool] });
  const other = await agent.client("other", { tools: [] });
  agent.model.script(script);
  await user.say("Go");
  const { id } = await user.next("tool_use_request");

  await other.send({ type: "tool_use_progress", body: { id, log: "forged", progress: 1 } });
  await other.next("acknowledgement", ({ acknowledgedStanzaId }) => acknowledgedStanzaId === 2);
  await user.answer(id, { success: true, result: {} });

  expect(await user.next("tool_call_state", isEnded)).toMatchObject({ logs: [] });
});

test("an MCP server's progress is shown while its tool runs", async () => {
  await using bench = new McpBench({ shop: { command: process.execPath, args: [STDIO_SERVER] } });
  await bench.until("shop_count");
  await using agent = await TestAgent.start({ liveTools: bench.servers.tools });
  const user = await agent.client("user", { features });
  agent.model.script([reply([toolUse("shop_count")]), reply([text("Done.")])]);

  await user.say("Count");
  const last = await user.next("tool_call_state", isEnded);

  expect(last).toMatchObject({ name: "shop_count", logs: ["progress 1/2: step 1", "progress 2/2: step 2"] });
  expect(JSON.parse(last.metadataJson)).toMatchObject({ progress: 1, mcpServer: "shop" });
});

test("a participant who asks late sees the open call, and one who did not ask sees nothing", async () => {
  const { tool, started, end } = heldTool();
  await using agent = await TestAgent.start({ tools: { scan: tool } });
  const user = await agent.client("user");
  agent.model.script(script);
  const messageId = await user.say("Go");
  const { log } = await started;
  log("page 1");
  expect(states(user)).toEqual([]);

  await user.send({ type: "configuration", body: { features } });
  const first = await user.next("tool_call_state");
  end("ok");
  await user.answerTo(messageId);
  await user.next("tool_call_state", isEnded);

  expect(first).toMatchObject({ status: "running", logs: ["page 1"] });
  expect(statuses(user)).toEqual(["running", "success"]);
});

test("a call that a stopped worker left open is shown with its log so far, and continues from there", async () => {
  await using agent = await TestAgent.start();
  await agent.leave();
  const content = { tool_use_id: "toolu_1", tool_name: "scan", input: {} };
  await agent.sql`
    insert into turns (id, session_id, position, participant_identity, message_id)
    select 'turn', id, 1, 'user', 'answer' from sessions`;
  await agent.sql`
    insert into turn_blocks (turn_id, sequence, block_type, content)
    values ('turn', 0, 'tool_use', ${agent.sql.json(content)})`;
  await agent.sql`
    insert into tool_calls (id, turn_id, tool_use_id, name, execution_asked, execution_resolved, participant_identity,
      state, timeout_ms, deadline_at, started_at, idempotency_key, input, logs, revision)
    values ('call', 'turn', 'toolu_1', 'scan', 'client', 'client', 'user', 'running', 30000,
      now() + interval '31 seconds', now(), 'key', '{}', '["page 1"]', 5)`;
  agent.model.script([reply([text("Done.")])]);
  await agent.join();
  const user = await agent.client("user", { features, tools: [clientTool] });
  await user.next("tool_use_request", ({ id }) => id === "call");

  await user.send({ type: "tool_use_progress", body: { id: "call", log: "page 2" } });
  await user.next("tool_call_state", ({ logs }) => logs.length === 2);
  await user.answer("call", { success: true, result: {} });
  const last = await user.next("tool_call_state", isEnded);

  expect(last).toMatchObject({ id: "call", status: "success", logs: ["page 1", "page 2"] });
  expect(Math.min(...states(user).map(revisionOf))).toBeGreaterThan(5);
});

test("a tool with the detail name shows only that, one with off shows nothing, and the config takes precedence", async () => {
  const quick = (stateDetail?: "full" | "name" | "off") => {
    const held = heldTool(stateDetail);
    held.end("secret");
    return held.tool;
  };
  const tools = { named: quick("name"), hidden: quick("off"), shown: quick("off"), silenced: quick() };
  await using agent = await TestAgent.start({ tools, policy: { toolDetail: { shown: "full", silenced: "off" } } });
  const user = await agent.client("user", { features });
  const uses = Object.keys(tools).map((name, index) => toolUse(name, { page: 7 }, `toolu_${index}`));
  agent.model.script([reply(uses), reply([text("Done.")])]);

  await user.answerTo(await user.say("Go"));
  for (const name of ["named", "shown"])
    await user.next("tool_call_state", (body) => body.name === name && isEnded(body));

  expect(new Set(states(user).map(({ name }) => name))).toEqual(new Set(["named", "shown"]));
  const ofNamed = JSON.stringify(states(user).filter(({ name }) => name === "named"));
  expect(ofNamed).not.toMatch(/secret|page/);
  expect(states(user).findLast(({ name }) => name === "shown")).toMatchObject({ output: "secret" });
  const rows = await agent.sql`select name, detail from tool_calls order by name`;
  expect(rows.map(({ name, detail }) => [name, detail])).toEqual([
    ["hidden", "off"],
    ["named", "name"],
    ["shown", "full"],
    ["silenced", "off"],
  ]);
});

test("a flood of logs stays within its limits, costs few messages, and delays nothing", async () => {
  const flood = defineTool({
    description: "Floods.",
    input: z.object({}),
    run: (_input, { log, progress }) => {
      for (let index = 0; index < 20_000; index++) {
        log(`line ${index}`);
        progress(index / 20_000);
      }
      return "ok";
    },
  });
  await using agent = await TestAgent.start({ tools: { scan: flood } });
  const user = await agent.client("user", { features });
  agent.model.script([reply([toolUse("scan")]), reply([text("Done.")])]);

  const startedAt = cpuMs();
  await user.answerTo(await user.say("Go"));
  const ms = cpuMs() - startedAt;
  const last = await user.next("tool_call_state", isEnded);

  expect(ms).toBeLessThan(5_000);
  expect(last.logs).toHaveLength(1_000);
  expect(last.logs.at(-1)).toBe("[more lines were not kept]");
  expect(states(user).length).toBeLessThan(8);
  const [row] = await agent.sql`select jsonb_array_length(logs) as lines from tool_calls`;
  expect(row?.["lines"]).toBe(1_000);
});

test("a participant who comes back learns once how calls ended meanwhile", async () => {
  const { tool, started, end } = heldTool();
  const shown: State[] = [];
  const { session } = new FakeSession({
    think: (history) => (lastUserText(history) === undefined ? { text: "Done." } : { uses: [{ name: "scan" }] }),
    tools: { scan: tool },
    publish: async (bytes, to) => {
      const { message } = decode(bytes);
      if (message.type === "tool_call_state" && to?.includes("ann")) shown.push(message.body);
    },
  });
  const configure = (join: number, stanza: number) => {
    const message: Message = { type: "configuration", body: { features, tools: [] } };
    session.handle({ type: "packet", from: fakeParticipant("ann", join), bytes: encode(stanza, message) });
  };
  configure(1, 1);
  session.handle({
    type: "packet",
    from: fakeParticipant("ann"),
    bytes: encode(2, { type: "user_message", body: { id: "m", content: "Go" } }),
  });
  await started;
  await vi.waitFor(() => expect(shown.at(-1)).toMatchObject({ status: "running" }));
  session.handle({ type: "left", identity: "ann" });
  const seen = shown.length;

  end("ok");
  await new Promise(setImmediate);
  expect(shown).toHaveLength(seen);
  configure(2, 1);
  configure(2, 2);
  await new Promise(setImmediate);
  await session.close(1_000);

  expect(shown.slice(seen)).toEqual([expect.objectContaining({ status: "success", output: "ok" })]);
});

/** A ToolStates whose sends the test completes one by one. */
function heldStates(present: readonly string[] = ["ann"]) {
  const sent: { readonly state: State; readonly to: readonly string[] | undefined; readonly done: () => void }[] = [];
  const send = (message: Message, { to }: { to?: readonly string[] } = {}) => {
    const done = Promise.withResolvers<void>();
    if (message.type === "tool_call_state") sent.push({ state: message.body, to, done: () => done.resolve() });
    return { stanzaId: -1, sent: done.promise, isStream: false };
  };
  const participants = { withFeature: () => [...present], absentWithFeature: () => ["bob"] };
  return { shown: new ToolStates({ outbox: { send }, participants }), sent };
}

test("others see whose permission a call waits for until it is given", async () => {
  const { shown, sent } = heldStates(["ann", "ben"]);
  const approvers = () => sent.map(({ state, to }) => [(JSON.parse(state.metadataJson) as JsonObject)["approver"], to]);
  const call = callOf({ revision: 1 });
  const tell = async (act: () => void) => {
    act();
    sent.at(-1)?.done();
    await new Promise(setImmediate);
  };

  await tell(() => shown.show(call));
  await tell(() => shown.showAsked(call, "ben"));
  await tell(() => shown.welcome("ann", [call]));
  await tell(() => shown.forgetAsked(call.id));
  await tell(() => shown.show({ ...call, state: "running", revision: 2 }));

  expect(approvers()).toEqual([
    [undefined, ["ann", "ben"]],
    ["ben", ["ann"]],
    ["ben", ["ann"]],
    [undefined, ["ann", "ben"]],
  ]);
});

test("while one state of a call is being sent the newest of each status waits", async () => {
  const { shown, sent } = heldStates();

  shown.show(callOf({ revision: 1 }));
  for (let revision = 2; revision < 100; revision++) shown.show(callOf({ state: "running", revision }));
  shown.show(callOf({ state: "success", outcome: success({}), revision: 100 }));
  expect(sent).toHaveLength(1);
  for (let index = 0; index < 3; index++) {
    sent[index]?.done();
    await new Promise(setImmediate);
  }

  expect(sent.map(({ state }) => revisionOf(state))).toEqual([1, 99, 100]);
});

test("a participant who asks for a call's states during a flood is not shown older states after the first", async () => {
  const { shown, sent } = heldStates(["ann", "eve"]);
  const running = (revision: number) => callOf({ state: "running", revision });
  shown.show(running(1));
  shown.show(running(2));

  shown.welcome("eve", [running(2)]);
  shown.show(running(3));
  for (let index = 0; index < 4; index++) {
    sent[index]?.done();
    await new Promise(setImmediate);
  }

  expect(sent.map(({ state, to }) => [revisionOf(state), to])).toEqual([
    [1, ["ann", "eve"]],
    [2, ["ann", "eve"]],
    [2, ["eve"]],
    [3, ["ann", "eve"]],
  ]);
});

test("answers after a call's end are shown with it, up to eight, and never those of a tool that shows no details", async () => {
  const { shown, sent } = heldStates();
  const late = { kind: "late", from: "bob", success: true } as const;
  const ended = { state: "success", outcome: success({ pages: 1 }) } as const;
  const settle = async () => {
    for (const { done } of sent) done();
    await new Promise(setImmediate);
  };
  shown.show(callOf(ended));
  shown.show(callOf({ ...ended, id: "secret", detail: "name" }));
  await settle();
  const before = sent.length;

  shown.showExtra("secret", late);
  shown.showExtra("unknown", late);
  for (let count = 0; count < 10; count++) {
    shown.showExtra("call", late);
    await settle();
  }

  expect(sent.slice(before)).toHaveLength(8);
  const last = sent.at(-1)?.state;
  expect(last).toMatchObject({ id: "call", status: "success", output: '{"pages":1}' });
  const { extraAnswers } = JSON.parse(last?.metadataJson ?? "{}") as { extraAnswers: readonly unknown[] };
  expect(extraAnswers).toEqual(Array.from({ length: 8 }, () => ({ ...late, at: expect.any(Number) })));
});
