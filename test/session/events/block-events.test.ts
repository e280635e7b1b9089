import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Message, MessageBody } from "../../../src/protocol/messages/messages.ts";
import { encodeEnvelope } from "../../../src/protocol/codec/codec.ts";
import { createBlockEvents } from "../../../src/session/events/block-events.ts";
import type { TurnRecord } from "../../../src/conversation/turn-record.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import type { TurnEvent } from "../../../src/turn/turn-event.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, thinking, toolUse } from "../../../src/model-server/step.ts";

const add = defineTool({
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
});

const turn: TurnRecord = {
  id: "turn_1",
  position: 1,
  participantIdentity: "user",
  parentMessageId: "message_1",
  messageId: "message_2",
  input: [],
  state: "running",
  blocks: [],
};

/** Sends turn events to watchers with these features, and returns the messages that were sent. */
function sentFor(features: readonly string[], ...events: readonly TurnEvent[]): Message[] {
  const sent: Message[] = [];
  const send = (message: Message) => {
    encodeEnvelope({ stanzaId: -1, conversationId: "c", message });
    sent.push(message);
    return { stanzaId: -1, sent: Promise.resolve(), isStream: false };
  };
  const post = (message: Message, { to }: { to?: readonly string[] } = {}) => void (to?.length === 0 || send(message));
  const participants = { withFeature: (feature: string) => (features.includes(feature) ? ["user"] : []) };
  const watch = createBlockEvents({ outbox: { send, post }, participants, recorder: { durable: async () => {} } });
  for (const event of events) watch({ type: "turn", turn, event });
  return sent;
}

const thought = (sequence: number, textContent: string): TurnEvent => ({
  type: "block_stop",
  sequence,
  block: { sequence, blockType: "thinking", textContent, content: { signature: "s" } },
});

test("a client that asked for blocks receives a turn as its blocks, with arguments as they are written", async () => {
  await using agent = await TestAgent.start({ tools: { add } });
  const user = await agent.client("user", { features: ["blocks", "reasoning_steps"] });
  const other = await agent.client("other");
  agent.model.script([
    reply([thinking("Hm."), text("Let me see."), toolUse("add", { a: 1, b: 2 }, "toolu_1")], { chunking: 5 }),
    reply([thinking("Three."), text("It is 3.")]),
  ]);

  const messageId = await user.say("1 + 2?");
  await user.next("block_event", ({ event }) => event === "turn_complete");

  const start = await user.next("start_answer", (body) => body.previousId === messageId);
  const events = user.all("block_event");
  expect(new Set(events.map(({ turnId }) => turnId))).toEqual(new Set([start.id]));
  const ofUse = events.filter(({ sequence }) => sequence === 2);
  expect(ofUse[0]).toMatchObject({
    event: "block_start",
    type: "tool_use",
    blockType: "tool_use",
    toolUseId: "toolu_1",
    toolName: "add",
  });
  const deltas = ofUse
    .filter(({ event }) => event === "block_delta")
    .map(({ delta }) => delta?.["partialJson"] as string);
  expect(deltas.length).toBeGreaterThan(2);
  expect(JSON.parse(deltas.join(""))).toEqual({ a: 1, b: 2 });
  expect(ofUse.at(-1)).toMatchObject({ event: "block_stop", content: { tool_name: "add", input: { a: 1, b: 2 } } });
  const words = events.filter(({ sequence, text: word }) => sequence === 1 && word !== undefined);
  expect(words.map(({ text: word }) => word).join("")).toBe("Let me see.");
  expect(events.find(({ result }) => result !== undefined)).toMatchObject({ sequence: 3, result: '{"sum":3}' });
  const ends = events.filter(({ event }) => event === "block_stop");
  expect(ends.map(({ type: blockType, sequence }) => [sequence, blockType])).toEqual([
    [0, "thinking"],
    [1, "text"],
    [2, "tool_use"],
    [3, "tool_result"],
    [4, "thinking"],
    [5, "text"],
  ]);
  expect(ends[3]).toMatchObject({ toolUseId: "toolu_1", content: { content: '{"sum":3}' } });
  expect(events.at(-1)).toEqual({
    event: "turn_complete",
    turnId: start.id,
    state: "completed",
    stopReason: "end_turn",
    timings: {
      startedAt: expect.any(Number),
      totalMs: expect.any(Number),
      firstTextMs: expect.any(Number),
      parts: expect.arrayContaining([expect.objectContaining({ span: "execute_tool", toolUseId: "toolu_1" })]),
    },
  });
  const steps = user
    .all("reasoning_step")
    .map(({ messageId: answer, sequence, content }) => [answer, sequence, content]);
  expect(steps).toEqual([
    [start.id, 1, "Hm."],
    [start.id, 2, "Three."],
  ]);
  await other.answerTo(messageId);
  expect([...other.all("block_event"), ...other.all("reasoning_step")]).toEqual([]);
});

test("nothing is sent while nobody asks, and a step's number includes the steps that nobody saw", () => {
  const start: TurnEvent = { type: "turn_start", model: "m" };

  expect(sentFor([], start, thought(0, "a"), { type: "block_start", sequence: 1, blockType: "text" })).toEqual([]);
  const steps = sentFor(
    ["reasoning_steps"],
    start,
    thought(0, "a"),
    thought(1, ""),
    thought(2, "b"),
    start,
    thought(0, "c"),
  );
  expect(steps.map(({ body }) => (body as MessageBody<"reasoning_step">).sequence)).toEqual([1, 2, 1]);
});

test("a delta without visible content is not sent, and a block too large for an envelope arrives without its content", () => {
  const textContent = "x".repeat(2_000_000);
  const sent = sentFor(
    ["blocks"],
    { type: "block_delta", sequence: 0, delta: { type: "other" } },
    { type: "block_stop", sequence: 0, block: { sequence: 0, blockType: "text", textContent, content: null } },
  );

  expect(sent.map(({ body }) => body)).toEqual([
    { event: "block_stop", turnId: "message_2", sequence: 0, type: "text", blockType: "text" },
  ]);
});

test("words are sent before they are stored; the end of a tool's block, and of the turn, is sent after", async () => {
  await using agent = await TestAgent.start({ tools: { add }, hasDatabaseProxy: true });
  const user = await agent.client("user", { features: ["blocks"] });
  agent.model.script([
    reply([text("Let me see."), toolUse("add", { a: 1, b: 2 }, "toolu_1")]),
    reply([text("It is 3.")]),
  ]);
  const blockEvents = () => user.all("block_event").map(({ event, sequence }) => `${event} ${sequence ?? ""}`.trim());
  agent.database?.pause();

  const messageId = await user.say("1 + 2?");
  await user.next("block_event", ({ event, sequence }) => event === "block_start" && sequence === 1);
  await user.next("block_event", ({ delta }) => delta?.["type"] === "input_json");
  await sleep(300);

  expect(blockEvents()).toContain("block_stop 0");
  expect(blockEvents()).not.toContain("block_stop 1");
  agent.database?.resume();
  const end = await user.next("block_event", ({ event }) => event === "turn_complete");
  const [turn] = await agent.sql`select state from turns`;
  expect([end.state, turn?.["state"]]).toEqual(["completed", "completed"]);
  expect(blockEvents().filter((each) => each.startsWith("block_stop"))).toEqual(
    [0, 1, 2, 3].map((at) => `block_stop ${at}`),
  );
  await user.answerTo(messageId);
});

test("a turn whose end cannot be stored is reported as failed, as on its record", async () => {
  await using agent = await TestAgent.start({ tools: { add } });
  const user = await agent.client("user", { features: ["blocks"] });
  agent.model.script([reply([text("One.")])]);
  await agent.sql`alter table turn_blocks add constraint none check (false)`;

  await user.say("Count.");

  expect(await user.next("block_event", ({ event }) => event === "turn_complete")).toMatchObject({ state: "failed" });
  await agent.sql`alter table turn_blocks drop constraint none`;
});
