import { expect, test } from "vitest";
import { z } from "zod";
import { connect, type Parley } from "../../src/client/index.ts";
import { MemoryRoom } from "../support/doubles/memory-transport.ts";
import { openClient, openWithTool } from "./open-client.ts";

const anything = { type: "object" } as const;

test("the first Configuration is sent to the agent as a byte stream, with our tools and features", async () => {
  const { room } = await openClient({ language: "nb-NO", features: ["blocks"] });

  const [first] = room.heard;

  expect(first).toMatchObject({ way: "stream", to: ["agent-1"], stanzaId: 1, conversationId: "ac_1" });
  expect(first?.message.body).toMatchObject({
    preferredLanguage: "nb-NO",
    features: ["claims", "tool_use_cancel", "tool_use_progress", "blocks"],
    tools: [],
  });
  expect(first?.message.body).not.toHaveProperty("lastSequenceSeen");
});

test("a tool is announced with its schema as JSON Schema", async () => {
  const { room, parley } = await openClient();

  parley.registerTool({
    name: "add",
    description: "Adds.",
    input: z.object({ a: z.number() }),
    timeoutMs: 4_000,
    execution: "either",
    readOnly: true,
    run: () => 0,
  });
  await room.until(() => room.all("configuration").length === 2);

  expect(room.all("configuration")[1]?.tools).toEqual([
    {
      name: "add",
      description: "Adds.",
      inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
      timeoutMs: 4_000,
      execution: "either",
      annotations: { readOnlyHint: true },
    },
  ]);
});

test("tools registered at the same time are announced once", async () => {
  const { room, parley } = await openClient();

  for (const name of ["a", "b", "c"]) parley.registerTool({ name, description: "", input: anything, run: () => 0 });
  await parley.whenConnected(1_000);

  expect(room.all("configuration").map(({ tools }) => tools?.map(({ name }) => name))).toEqual([[], ["a", "b", "c"]]);
});

test("an unregistered tool is no longer announced, and calls to it are unknown", async () => {
  const { room, parley } = await openClient();
  const unregister = parley.registerTool({ name: "echo", description: "", input: anything, run: () => 0 });
  await parley.whenConnected(1_000);

  unregister();
  unregister();
  await parley.whenConnected(1_000);
  room.request({ id: "r1" });

  expect((await room.result("r1")).errorCode).toBe("unknown_tool");
  expect(room.all("configuration").at(-1)?.tools).toEqual([]);
  expect(room.all("configuration")).toHaveLength(3);
});

test("a tool registered before the room is connected is announced once the room connects", async () => {
  const room = new MemoryRoom();
  room.disconnect();
  const parley = await connect(room.transport);
  parley.registerTool({ name: "echo", description: "", input: anything, run: () => 0 });

  room.connect();
  await parley.whenConnected(1_000);

  expect(room.all("configuration").map(({ tools }) => tools?.length)).toEqual([1]);
  await parley.close();
});

test.each([
  ["a bad name", { name: "no spaces" }],
  ["a time that is no positive integer", { timeoutMs: -1 }],
  ["a schema that is no object", { input: { type: "string" } as const }],
  ["a schema that cannot be sent", { input: z.object({ at: z.date() }) as never }],
  ["a description that the worker would cut", { description: "x".repeat(2_001) }],
])("a tool with %s is refused immediately", async (_name, wrong) => {
  const { parley } = await openClient();

  const register = () => parley.registerTool({ name: "t", description: "", input: anything, run: () => 0, ...wrong });

  expect(register).toThrow(TypeError);
});

test("a second tool with the same name and a 65th tool are refused", async () => {
  const { parley } = await openClient();
  const register = (name: string) => parley.registerTool({ name, description: "", input: anything, run: () => 0 });
  for (let n = 0; n < 64; n++) register(`t${n}`);

  expect(() => register("t0")).toThrow(TypeError);
  expect(() => register("t64")).toThrow(TypeError);
});

test("a Configuration that is not acknowledged is sent again", { timeout: 10_000 }, async () => {
  const room = new MemoryRoom();
  room.acknowledges = false;
  const connected = connect(room.transport);

  await room.until(() => room.all("configuration").length === 1);
  room.acknowledges = true;

  await using parley = await connected;
  expect(parley.isConnected).toBe(true);
  expect(room.heard.map(({ stanzaId, way }) => [stanzaId, way])).toEqual([
    [1, "stream"],
    [2, "stream"],
  ]);
});

test("messages sent before the agent knows us are byte streams", async () => {
  const room = new MemoryRoom();
  room.acknowledges = false;
  await using parley = await connect(room.transport, { waitForAgentMs: 0 });
  parley.stop();
  await room.until(() => room.all("control_stop").length === 1);
  const [stanzaId] = room.heard.map((heard) => heard.stanzaId);
  const body = { acknowledgedStanzaId: stanzaId ?? 0, success: true };
  room.say({ type: "acknowledgement", body }, { stanzaId: 0 });
  await parley.whenConnected(1_000);
  parley.stop();
  await room.until(() => room.all("control_stop").length === 2);

  const stops = room.heard.filter(({ message }) => message.type === "control_stop");
  expect(stops.map(({ way }) => way)).toEqual(["stream", "packet"]);
});

test("a room without an agent is an error after the given time, and leaves no listener", async () => {
  const room = new MemoryRoom({ hasAgent: false });

  await expect(connect(room.transport, { waitForAgentMs: 20 })).rejects.toMatchObject({ code: "unavailable" });

  expect(room.listenerCount).toBe(0);
});

test("people in the room do not count as agents", async () => {
  const room = new MemoryRoom({ hasAgent: false });
  room.join({ identity: "bob", isAgent: false });

  await expect(connect(room.transport, { waitForAgentMs: 20 })).rejects.toMatchObject({ code: "unavailable" });

  expect(room.heard).toEqual([]);
});

test("an agent that joins later receives our tools", async () => {
  const room = new MemoryRoom({ hasAgent: false });
  const connecting = connect(room.transport);

  room.join();

  await using parley = await connecting;
  expect(parley.isConnected).toBe(true);
});

test("messages that an agent sent before it was announced are requested again", async () => {
  const room = new MemoryRoom({ hasAgent: false });
  const connecting = connect(room.transport);
  room.say({ type: "configuration", body: {} }, { from: undefined, stanzaId: -7 });

  room.join();
  await using parley = await connecting;

  expect(room.all("configuration").map(({ lastSequenceSeen }) => lastSequenceSeen)).toEqual([6]);
  expect(parley.isConnected).toBe(true);
});

test("a packet from an unannounced sender next to an agent delays no message", async () => {
  const { room, parley } = await openClient();
  const heard: string[] = [];
  parley.on("answer_start", ({ id }) => heard.push(id));

  room.say({ type: "configuration", body: {} }, { from: undefined, stanzaId: -700 });
  room.say({ type: "start_answer", body: { id: "a", previousId: "m", answerType: "text" } });

  expect(heard).toEqual(["a"]);
});

test("a packet from an unannounced sender takes no more memory than it has bytes", async () => {
  const room = new MemoryRoom({ hasAgent: false });
  const connecting = connect(room.transport);
  const before = process.memoryUsage().rss;

  // If its input were not checked first, the MessagePack library would allocate 50,000 items for each list, 2 GB in
  // all.
  room.sayBytes(Uint8Array.from(Buffer.from(`81a87374616e7a614964${"dcc350".repeat(5_000)}`, "hex")), {
    from: undefined,
  });
  room.say({ type: "configuration", body: {} }, { from: undefined, stanzaId: -7 });
  expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);

  room.join();
  await using parley = await connecting;
  expect(room.all("configuration").map(({ lastSequenceSeen }) => lastSequenceSeen)).toEqual([6]);
  expect(parley.isConnected).toBe(true);
});

test("the first messages from a new agent do not hide what we have missed from the previous one", async () => {
  const { room, parley } = await openClient();
  const commentary = { type: "commentary", body: { id: "c", messageId: "m", content: "" } } as const;
  const next = { identity: "agent-2", isAgent: true };
  const lastSeen = () => room.all("configuration").map(({ lastSequenceSeen }) => lastSequenceSeen);
  room.say(commentary, { stanzaId: -12 });
  room.leave();
  room.acknowledges = false;
  room.join(next);
  room.say({ type: "configuration", body: {} }, { stanzaId: -1_001, from: next });

  // This agent leaves before it has sent the missing messages, so the client asks the next agent for them.
  room.leave(next);
  room.acknowledges = true;
  room.join();
  await parley.whenConnected(1_000);
  expect(lastSeen().slice(1)).toEqual([12, 12]);

  room.say({ type: "configuration", body: {} }, { stanzaId: -2_001 });
  room.disconnect();
  room.connect();
  await parley.whenConnected(1_000);
  expect(lastSeen().at(-1)).toBe(2_001);
});

const START = { type: "start_answer", body: { id: "a2", previousId: "m1", answerType: "text" } } as const;
const END = {
  type: "assistant_sentence",
  body: { id: "s1", previousId: "a2", sequence: 1, text: "Here I am.", isFinal: true },
} as const;

/** Records the answers that the client reports from now on: the id when an answer starts, the text when it ends. */
function hearAnswers(parley: Parley): readonly string[] {
  const heard: string[] = [];
  parley.on("answer_start", ({ id }) => heard.push(`start ${id}`));
  parley.on("answer_end", ({ text }) => heard.push(text));
  return heard;
}

test("new messages from an agent are handled after the ones that we missed", async () => {
  const { room, parley } = await openClient();
  const heard = hearAnswers(parley);
  const next = { identity: "agent-2", isAgent: true };
  room.say({ type: "configuration", body: {} }, { stanzaId: -5 });
  room.leave();
  room.say(START, { stanzaId: -1_002, from: undefined });

  room.join(next);
  room.say(END, { stanzaId: -1_003, from: next });
  await parley.whenConnected(1_000);
  room.say(
    { type: "assistant_message", body: { id: "a1", previousId: "m0", content: "Before." } },
    { stanzaId: -1_004, from: next },
  );
  room.say({ type: "configuration", body: {} }, { stanzaId: -1_001, from: next });
  room.say(START, { stanzaId: -1_002, from: next });
  room.say(END, { stanzaId: -1_003, from: next });
  expect(heard).toEqual([]);
  room.say({ type: "configuration", body: {} }, { stanzaId: -1_005, from: next });

  expect(heard).toEqual(["Before.", "start a2", "Here I am."]);
});

test("after LiveKit itself reconnects, missed messages are handled before new ones", async () => {
  const { room, parley } = await openClient();
  const heard = hearAnswers(parley);
  room.say({ type: "configuration", body: {} }, { stanzaId: -5 });

  // LiveKit has reconnected without reporting a disconnection, and the message with number -6 was lost.
  room.connect();
  await parley.whenConnected(1_000);
  room.say(END, { stanzaId: -7 });
  room.say(START, { stanzaId: -6 });
  room.say(END, { stanzaId: -7 });
  room.say({ type: "configuration", body: {} }, { stanzaId: -8 });

  expect(heard).toEqual(["start a2", "Here I am."]);
});

test("messages from a worker that sends no Configuration are handled nevertheless", { timeout: 10_000 }, async () => {
  const { room, parley } = await openClient();
  const heard: string[] = [];
  parley.on("answer_start", ({ id }) => heard.push(id));
  room.say({ type: "configuration", body: {} }, { stanzaId: -5 });
  room.leave();
  const next = { identity: "agent-2", isAgent: true };
  room.join(next);

  room.say({ type: "start_answer", body: { id: "a2", previousId: "m1", answerType: "text" } }, { from: next });

  await expect.poll(() => heard, { timeout: 5_000 }).toEqual(["a2"]);
});

test("after a reconnect our Configuration contains the last stanza we saw, and the numbers continue", async () => {
  const { room, parley } = await openClient();
  room.say({ type: "commentary", body: { id: "c", messageId: "m", content: "" } }, { stanzaId: -12 });

  room.disconnect();
  expect(parley.isConnected).toBe(false);
  room.connect();
  await parley.whenConnected(1_000);

  expect(room.heard.at(-1)).toMatchObject({ stanzaId: 2, way: "stream", message: { body: { lastSequenceSeen: 12 } } });
});

test("a call that runs during a reconnect is answered when it is requested again", async () => {
  const work = Promise.withResolvers<string>();
  let runs = 0;
  const { room, parley } = await openWithTool(() => {
    runs += 1;
    return work.promise;
  });
  room.request({ id: "r1" });
  room.disconnect();
  work.resolve("done");
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(room.results("r1")).toEqual([]);

  room.connect();
  await parley.whenConnected(1_000);
  room.request({ id: "r1" });
  room.say({ type: "configuration", body: {} });

  expect(await room.result("r1")).toMatchObject({ success: true, result: { value: "done" } });
  expect(runs).toBe(1);
});

test("another room object takes over tools and open calls", async () => {
  const work = Promise.withResolvers<string>();
  const { room, parley } = await openWithTool(() => work.promise);
  room.request({ id: "r1" });
  const next = new MemoryRoom();

  parley.rejoin(next.transport);
  await parley.whenConnected(1_000);
  next.request({ id: "r1" });
  work.resolve("done");

  expect(await next.result("r1")).toMatchObject({ success: true, result: { value: "done" } });
  expect(next.all("configuration")[0]?.tools?.map(({ name }) => name)).toEqual(["echo"]);
  expect(room.listenerCount).toBe(0);
});

test("a result from before the next room is connected, while it has no name, belongs to the conversation", async () => {
  const work = Promise.withResolvers<string>();
  const { room, parley } = await openWithTool(() => work.promise);
  room.request({ id: "r1" });
  const next = new MemoryRoom({ hasAgent: false });
  next.roomName = "";
  next.disconnect();

  parley.rejoin(next.transport);
  work.resolve("done");
  await new Promise((resolve) => setTimeout(resolve, 20));
  next.roomName = "conv_ac_1";
  next.join();
  next.connect();

  // A message without an Ack is sent again after five seconds.
  const results = () => next.heard.filter(({ message }) => message.type === "tool_use_result");
  await expect.poll(results, { timeout: 8_000 }).toMatchObject([{ conversationId: "ac_1" }]);
});

test("connecting and disconnecting are reported", async () => {
  const { room, parley } = await openClient();
  const events: string[] = [];
  parley.on("connected", ({ agents }) => events.push(`connected ${agents.join()}`));
  parley.on("disconnected", ({ reason }) => events.push(`lost ${reason}`));

  room.leave();
  room.join();
  await parley.whenConnected(1_000);
  room.disconnect();

  expect(events).toEqual(["lost agent", "connected agent-1", "lost room"]);
});

test("closing aborts running calls, answers them, unregisters the tools and leaves nothing behind", async () => {
  const signals: AbortSignal[] = [];
  const { room, parley } = await openWithTool((_input, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  parley.on("sentence", () => {});
  room.request({ id: "r1" });
  await expect.poll(() => signals.length).toBe(1);
  const timersBefore = activeTimers();

  await parley.close();
  await parley.close();

  expect(room.results("r1")).toEqual([expect.objectContaining({ success: false, errorCode: "cancelled" })]);
  expect(signals[0]?.aborted).toBe(true);
  expect(room.all("configuration").at(-1)?.tools).toEqual([]);
  expect(room.listenerCount).toBe(0);
  expect(activeTimers()).toBeLessThan(timersBefore);
  expect(() => parley.sendText("hello")).toThrow("closed");
});

test("a thousand calls and texts leave no timers and no listeners", async () => {
  const { room, parley } = await openWithTool(({ n }) => ({ n }));
  await parley.whenConnected(1_000);
  const timersBefore = activeTimers();

  for (let n = 0; n < 1_000; n++) room.request({ id: `r${n}` });
  await room.until(() => room.all("tool_use_result").length === 1_000, 10_000);
  await parley.sendText("hello").acknowledged;

  expect(parley.runningToolCount).toBe(0);
  expect(activeTimers()).toBe(timersBefore);
});

test("closing settles all pending promises", async () => {
  const room = new MemoryRoom({ hasAgent: false });
  const parley: Parley = await connect(room.transport, { waitForAgentMs: 0 });
  const { acknowledged } = parley.sendText("hello");
  const waiting = parley.whenConnected(60_000);

  await parley.close();

  await expect(acknowledged).rejects.toMatchObject({ code: "unavailable" });
  await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
});

function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

test("an agent that says it has left does not count, and its successor is configured", async () => {
  const { room, parley } = await openClient();
  const lost: string[] = [];
  parley.on("disconnected", ({ reason }) => lost.push(reason));
  room.change({ identity: "agent-1", isAgent: true, isGone: true });

  expect(parley.isConnected).toBe(false);
  expect(lost).toEqual(["agent"]);
  room.join({ identity: "agent-2", isAgent: true });
  await parley.whenConnected(1_000);
  room.leave();

  expect(parley.isConnected).toBe(true);
  expect(room.heard.map(({ to }) => to)).toEqual([["agent-1"], ["agent-2"]]);
});

test("an agent that was considered gone and serves the room again is configured again", async () => {
  const { room, parley } = await openClient();
  room.change({ identity: "agent-1", isAgent: true, isGone: true });

  room.change({ identity: "agent-1", isAgent: true });

  await parley.whenConnected(1_000);
  expect(room.all("configuration")).toHaveLength(2);
});
