import { setTimeout as sleep } from "node:timers/promises";
import { encode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { TestAgent } from "../../support/agent.ts";
import { rawPacket } from "../../support/attack.ts";
import { CORPUS } from "../../support/hostile-packets.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";
import { announced, scriptOf } from "../../support/client-tool.ts";
import { lastContent } from "../../support/model-view.ts";

const packetOf = (content: string) => rawPacket({ type: 2, stanzaId: 0, body: { id: createId(), content } });

async function publish(user: Participant, bytes: Uint8Array, topic?: string): Promise<void> {
  await user.room.localParticipant?.publishData(bytes, { reliable: true, ...(topic !== undefined && { topic }) });
}

test("packets on other topics are ignored, those without a topic are not", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(() => reply([text("Hello.")]));
  for (const topic of ["other", "parley2", "Parley", "lk.chat", " "]) await publish(user, packetOf(topic), topic);
  await publish(user, packetOf("empty"), "");
  await publish(user, packetOf("none"));
  await user.until(() => user.all("start_answer").length === 2, "two answers");
  await sleep(300);
  await user.until(() => user.all("assistant_sentence").filter(({ isFinal }) => isFinal).length === 2, "both ends");
  expect(agent.model.requests).toHaveLength(2);
});

test("a client that supports only the core types can talk, and another's tool for the room runs in its turn", async () => {
  await using agent = await TestAgent.start({ tools: {} });
  const user = await agent.client("user", { tools: [announced("scan", { scope: "room" })] });
  const { Participant } = await import("../../support/participant.ts");
  await using plain = await Participant.join(agent.roomName, "plain");
  agent.model.script(scriptOf("scan"));
  const messageId = await plain.say("Go");
  const { id } = await user.next("tool_use_request");
  await user.answer(id, { success: true, result: { ok: 1 } });
  expect(await plain.answerTo(messageId)).toBe("Done.");
  const types = new Set(plain.received.map(({ message }) => message.type));
  const core = ["acknowledgement", "configuration", "start_answer", "assistant_sentence"];
  expect([...types].filter((type) => !core.includes(type))).toEqual([]);
  expect(lastContent(agent)).toBe('{"ok":1}');
});

test("too many messages: one 429, nobody else waits, and after the time in it everything works again", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  const other = await agent.client("other");
  agent.model.script(() => reply([text("Hello.")]));
  // A packet of a type that the worker ignores. All packets are sent at once, so that they arrive before the budget
  // refills.
  const ignored = rawPacket({ type: 4, stanzaId: 0, body: {} });
  await Promise.all(Array.from({ length: 400 }, () => publish(user, ignored, "parley")));
  const { code, retryAfterMs = 0 } = await user.next("error_message");
  expect([code, retryAfterMs]).toEqual([429, 1_000]);
  expect(await other.answerTo(await other.say("Hi"))).toBe("Hello.");
  await sleep(retryAfterMs);
  expect(await user.answerTo(await user.say("Hi again"))).toBe("Hello.");
  expect(user.all("error_message")).toHaveLength(1);
});

test("a malformed packet is answered with 101 and its id, and never with its content", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  const secret = "my secret";
  const bad = [
    { type: 2, body: { id: "id-1", content: { secret } } },
    { type: 7, body: { id: "id-2", requestId: "id-3", success: secret } },
    { type: 11, body: { id: "id-4", mode: secret } },
    { type: 6, body: { id: "id-5", toolName: secret, execution: secret } },
  ];
  for (const [index, fields] of bad.entries()) await user.sendBytes(rawPacket({ ...fields, stanzaId: 500 + index }));
  const expected = ["id-1", "id-3", "id-4", "id-5"];
  for (const originatingId of expected) {
    const error = await user.next("error_message", (body) => body.originatingId === originatingId);
    expect(error).toMatchObject({ code: 101, recoverable: true });
    expect(error.message).not.toContain(secret);
  }
  for (const index of bad.keys())
    await user.next("acknowledgement", (body) => body.acknowledgedStanzaId === 500 + index);
});

test("a message for another conversation is answered with 201 and not handled; one without a conversation is handled", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { tools: [announced("scan")] });
  const elsewhere = (stanzaId: number, type: number, body: Record<string, unknown>) =>
    encode({ stanzaId, conversationId: "elsewhere", type, meta: {}, body });
  agent.model.script(scriptOf("scan"));
  await user.sendBytes(rawPacket({ type: 2, stanzaId: 600, body: { id: "msg-1", content: "Go" } }));
  const { id } = await user.next("tool_use_request");
  await user.sendBytes(elsewhere(601, 7, { id, requestId: id, success: true, result: { forged: true } }));
  await user.sendBytes(elsewhere(602, 2, { id: "msg-2", content: "Elsewhere" }));
  await user.sendBytes(elsewhere(603, 1, { id: "err-1", code: 501, message: "Elsewhere", originatingId: id }));
  for (const originatingId of [id, "msg-2"])
    await user.next("error_message", (body) => body.originatingId === originatingId && body.code === 201);
  await user.next("acknowledgement", ({ acknowledgedStanzaId }) => acknowledgedStanzaId === 603);
  await user.answer(id, { success: true, result: { ok: 1 } });
  expect(await user.answerTo("msg-1")).toBe("Done.");
  expect(lastContent(agent)).toBe('{"ok":1}');
  expect(user.all("error_message")).toHaveLength(2);
  expect(agent.model.requests).toHaveLength(2);
});

test("the whole corpus of bad bytes arrives over the wire, and the session continues", async () => {
  await using agent = await TestAgent.start();
  const attacker = await agent.client("attacker");
  const user = await agent.client("user");
  const packets = CORPUS.filter((bytes) => bytes.length > 0 && bytes.length <= 15_000).slice(0, 190);
  for (const bytes of packets) await publish(attacker, bytes, "parley");
  agent.model.script([reply([text("Still here.")])]);
  expect(await user.answerTo(await user.say("And?"))).toBe("Still here.");
});

test("a message that arrives twice, as the same stanza or with the same id, is acknowledged and answered once", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(() => reply([text("Hello.")]));
  const body = { id: createId(), content: "Hi" };
  for (const stanzaId of [70, 70, 71]) await user.sendBytes(rawPacket({ type: 2, stanzaId, body }));
  await user.answerTo(body.id);
  await user.until(
    () => user.all("acknowledgement").filter((ack) => ack.acknowledgedStanzaId >= 70).length === 3,
    "acks",
  );
  await user.answerTo(await user.say("Next"));
  expect(agent.model.requests).toHaveLength(2);
});
