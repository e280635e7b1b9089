import { setTimeout as sleep } from "node:timers/promises";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { conversationIdOfRoom } from "../../src/protocol/conversation-id.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { TestAgent } from "../support/agent.ts";
import { EventServer, roomToken, type ReadEvent } from "../support/servers/event-server.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";

const add = defineTool({
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
});

/**
 * Returns one line per event: its name, and the block, state or step that it is about. Consecutive deltas of one block
 * become one line.
 */
function outline(events: readonly ReadEvent[]): string[] {
  const lines = events.map(({ event, data }) =>
    [event, data["sequence"] ?? data["state"] ?? data["step"]].join(" ").trim(),
  );
  return lines.filter((line, index) => line !== lines[index - 1]);
}

test("a turn with a tool in a real room is streamed live, and again from the middle", async () => {
  await using agent = await TestAgent.start({ tools: { add } });
  await using server = await EventServer.start({ databaseUrl: agent.databaseUrl });
  const user = await agent.client("user");
  const found = await server.getAs(await roomToken(agent.roomName), "/session");
  const { id } = (await found.json()) as { id: string };
  await using reader = await server.open({ id, room: agent.roomName });
  agent.model.script([
    reply([text("Let me see."), toolUse("add", { a: 1, b: 2 }, "toolu_1")], { slow: 20, chunking: 5 }),
    reply([text("It is 3.")]),
  ]);

  const messageId = await user.say("1 + 2?");
  await reader.next(({ event }) => event === "turn_complete");

  const start = await user.next("start_answer");
  const blocks = reader.events.filter(({ event }) => event !== "tool_state");
  expect(outline(blocks)).toEqual([
    "turn_start",
    "block_start 0",
    "block_delta 0",
    "block_stop 0",
    "block_start 1",
    "block_delta 1",
    "block_stop 1",
    "usage 1",
    "block_start 2",
    "block_delta 2",
    "block_stop 2",
    "block_start 3",
    "block_delta 3",
    "block_stop 3",
    "usage 2",
    "turn_complete completed",
  ]);
  expect(reader.events[0]?.data).toEqual({
    turnId: start.id,
    parentMessageId: messageId,
    participantIdentity: "user",
  });
  const deltas = blocks.filter(({ event, data }) => event === "block_delta" && data["sequence"] === 1);
  expect(deltas.length).toBeGreaterThan(2);
  const request = await user.next("tool_use_request");
  const states = reader.events.filter(({ event }) => event === "tool_state").map(({ data }) => data);
  expect(states.map(({ status, sequence }) => [sequence, status])).toEqual([
    [1, "pending"],
    [2, "running"],
    [3, "success"],
  ]);
  expect(states.at(-1)).toEqual({
    turnId: start.id,
    sequence: 3,
    id: request.id,
    callId: request.id,
    name: "add",
    status: "success",
    inputJson: '{"a":1,"b":2}',
    output: '{"sum":3}',
    logs: [],
    metadataJson: expect.stringContaining('"toolUseId":"toolu_1"'),
    startedAt: expect.any(Number),
    finishedAt: expect.any(Number),
  });

  await using again = await server.open(
    { id: conversationIdOfRoom(agent.roomName), room: agent.roomName },
    { lastEventId: "1.1" },
  );
  await again.next(({ event }) => event === "turn_complete");
  expect(outline(again.events)).toEqual([
    "block_start 2",
    "block_delta 2",
    "block_stop 2",
    "block_start 3",
    "block_delta 3",
    "block_stop 3",
    "turn_complete completed",
  ]);
  const durable = (events: readonly ReadEvent[]) => events.filter((event) => event.id !== undefined);
  expect(durable(again.events)).toEqual(durable(reader.events).slice(2));
  expect(agent.model.rejections).toEqual([]);
});

/**
 * Separates the `tool_state` events of a transcript from its other events. A call is shown when it is stored, so the
 * position of its events among the turn's other events varies.
 */
function byKind(transcript: string): Record<string, string[]> {
  const events = transcript.trim().split("\n\n");
  const isState = (event: string) => event.startsWith("event: tool_state");
  return { states: events.filter(isState), others: events.filter((event) => !isState(event)) };
}

test("the transcript in docs/events.md is what such a turn sends", async () => {
  // The tool is slow, so that the reader can keep up even on a busy machine. A reader that falls behind gets the stored
  // turn instead of live events.
  const slowly = defineTool({
    description: "Adds.",
    input: z.object({ a: z.number(), b: z.number() }),
    run: async ({ a, b }) => ({ sum: await sleep(200, a + b) }),
  });
  await using agent = await TestAgent.start({ tools: { add: slowly } });
  await using server = await EventServer.start({ databaseUrl: agent.databaseUrl });
  const user = await agent.client("user");
  const room = agent.roomName;
  await using reader = await server.open({ id: conversationIdOfRoom(room), room });
  agent.model.script([
    reply([text("Let me see."), toolUse("add", { a: 1, b: 2 }, "toolu_1")], { slow: 50 }),
    reply([text("It is 3.")], { slow: 50 }),
  ]);

  const messageId = await user.say("1 + 2?");
  await reader.next(({ event }) => event === "turn_complete");

  const start = await user.next("start_answer");
  const request = await user.next("tool_use_request");
  const transcript = reader.text
    .replaceAll(start.id, "ANSWER")
    .replaceAll(messageId, "MESSAGE")
    .replaceAll(request.id, "CALL")
    .replaceAll(/(\w+(?:At|Tokens)\\?"):\d+/g, "$1:0");
  const [, documented = ""] = /```text\n([^`]*)```/.exec(readFileSync("docs/events.md", "utf8")) ?? [];
  expect(byKind(transcript)).toEqual(byKind(documented));
});
