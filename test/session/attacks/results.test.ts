import { setTimeout as sleep } from "node:timers/promises";
import { DataPacket_Kind } from "livekit-server-sdk";
import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { TestAgent } from "../../support/agent.ts";
import { dropLog, rawPacket, resultPacket, roomApi } from "../../support/attack.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";
import { announced, scriptOf } from "../../support/client-tool.ts";
import { lastContent, messagesTo } from "../../support/model-view.ts";

/** A room in which the client `user` has received a request for `scan`. */
async function openCall(agent: TestAgent, more: object = {}) {
  const user = await agent.client("user", { tools: [announced("scan", more)] });
  agent.model.script(scriptOf("scan"));
  const messageId = await user.say("Go");
  const { id } = await user.next("tool_use_request");
  return { user, messageId, id };
}

test("F4: results for calls that do not exist, or have ended, change nothing", async () => {
  await using agent = await TestAgent.start();
  const { user, messageId, id } = await openCall(agent);
  await user.answer(createId(), { success: true, result: { forged: 1 } });
  await user.answer("", { success: true, result: { forged: 1 } });
  await user.answer(id, { success: true, result: { ok: 1 } });
  await user.answerTo(messageId);
  await user.answer(id, { success: false, errorCode: "execution_error" });
  await user.answer(id, { success: true, result: { forged: 1 } });
  agent.model.script([reply([text("Still here.")])]);
  expect(await user.answerTo(await user.say("And?"))).toBe("Still here.");
  await agent.leave();
  expect(await agent.calls()).toMatchObject([
    { state: "success", result: { ok: 1 }, extra_answers: [{ kind: "duplicate" }, { kind: "duplicate" }] },
  ]);
});

test("a result with a number that would be stored differently ends its call, with the location in the error", async () => {
  await using agent = await TestAgent.start();
  const { user, messageId, id } = await openCall(agent);

  await user.answer(id, { success: true, result: { rows: [{ mean: NaN }] } });

  await user.answerTo(messageId);
  const errorMessage = "tool_use_result.result.rows[0].mean: NaN cannot be represented in JSON";
  expect(await agent.calls()).toMatchObject([{ error_code: "protocol_error", error_message: errorMessage }]);
});

test("F5, F7: a result from another client, the server's API or a hidden participant does not count", async () => {
  const { logger, reasons } = dropLog();
  await using agent = await TestAgent.start({ logger });
  const { user, messageId, id } = await openCall(agent);
  const thief = await agent.client("thief", { tools: [announced("scan")] });
  await using ghost = await Participant.join(agent.roomName, "ghost", { hidden: true });
  const forged = resultPacket(id, { forged: true }, 77);
  await thief.sendBytes(forged);
  await thief.sendBytes(forged, true);
  await ghost.sendBytes(forged);
  await ghost.sendBytes(forged, true);
  await roomApi().sendData(agent.roomName, forged, DataPacket_Kind.RELIABLE, { topic: "parley" });
  await roomApi().sendData(agent.roomName, forged, DataPacket_Kind.RELIABLE, {});
  await expect.poll(reasons, { timeout: 10_000 }).toContain("unknown_sender");
  await sleep(500);
  expect(agent.model.requests).toHaveLength(1);
  await user.answer(id, { success: true, result: { ok: 1 } });
  await user.answerTo(messageId);
  expect(lastContent(agent)).toBe('{"ok":1}');
  await agent.leave();
  const [call] = await agent.calls();
  expect(call?.extra_answers.every(({ kind }) => kind === "wrong_participant")).toBe(true);
});

test("F7: a hidden participant cannot start a turn, by packet or by stream", async () => {
  const { logger, reasons } = dropLog();
  await using agent = await TestAgent.start({ logger });
  await using ghost = await Participant.join(agent.roomName, "ghost", { hidden: true });
  const packet = () => rawPacket({ type: 2, body: { id: createId(), content: "Forged" } });
  await ghost.sendBytes(packet());
  await ghost.sendBytes(packet(), true);
  await ghost.room.localParticipant?.sendText("Forged", { topic: "lk.chat" });
  await expect.poll(reasons, { timeout: 10_000 }).toContain("unknown_sender");
  await sleep(500);
  expect(agent.model.requests).toHaveLength(0);
});

// room-api.ts uses LiveKit's `canPublishData` to tell whether a participant can send messages.
test("F7: a hidden participant in the room costs a data-only client no message", async () => {
  await using agent = await TestAgent.start();
  await using _recorder = await Participant.join(agent.roomName, "recorder", {
    hidden: true,
    canPublish: false,
    canPublishData: false,
  });
  await using user = await Participant.join(agent.roomName, "user", { canPublish: false });
  agent.model.script([reply([text("Hello.")])]);
  expect(await user.answerTo(await user.say("Hi"))).toBe("Hello.");
});

test("a client cannot pose as another by using its name in a stream", async () => {
  await using agent = await TestAgent.start();
  const { user, messageId, id } = await openCall(agent);
  const thief = await agent.client("thief", { tools: [] });
  const writer = await thief.room.localParticipant?.streamText({ topic: "lk.chat", senderIdentity: "user" });
  await writer?.write("As the user");
  await writer?.close();
  await user.answer(id, { success: true });
  await user.answerTo(messageId);
  await sleep(500);
  await agent.leave();
  const turns = await agent.sql`select participant_identity, input from turns where input::text like '%As the user%'`;
  expect(turns.every((turn) => turn["participant_identity"] !== "user")).toBe(true);
});

test("F6: a data-only client's result counts, even in the first moments", async () => {
  await using agent = await TestAgent.start();
  await using user = await Participant.join(agent.roomName, "quiet", { canPublish: false });
  agent.model.script(scriptOf("scan"));
  // Streams and packets have no common order, so the tools must be known before the message is sent.
  await user.configure({ tools: [announced("scan")] });
  const messageId = await user.say("Go");
  const { id } = await user.next("tool_use_request");
  await user.answer(id, { success: true, result: { ok: 1 } });
  await user.answerTo(messageId, 5_000);
  expect(lastContent(agent)).toBe('{"ok":1}');
});

test("F8: a client that may not publish data costs a call its time and no more", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { tools: [announced("scan", { timeoutMs: 300 })] });
  await roomApi().updateParticipant(agent.roomName, "user", {
    permission: { canSubscribe: true, canPublish: true, canPublishData: true },
  });
  agent.model.script(scriptOf("scan"));
  const messageId = await user.say("Go");
  const { id } = await user.next("tool_use_request");
  await roomApi().updateParticipant(agent.roomName, "user", {
    permission: { canSubscribe: true, canPublish: false, canPublishData: false },
  });
  await user.answer(id, { success: true }).catch(() => {});
  await user.answerTo(messageId);
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "timeout" }]);
});

test("forty calls at once, each with eight lines of progress, all get their result", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { tools: [announced("scan")] });
  const uses = Array.from({ length: 40 }, (_, index) => toolUse("scan", { index }, `toolu_${index}`));
  agent.model.script([reply(uses), reply([text("Done.")])]);
  const messageId = await user.say("Go");
  await user.until(() => user.all("tool_use_request").length === 40, "40 requests");
  const requests = user.all("tool_use_request");
  for (let line = 0; line < 8; line++)
    await Promise.all(requests.map(({ id }) => user.send({ type: "tool_use_progress", body: { id, log: `${line}` } })));
  await Promise.all(requests.map(({ id }) => user.answer(id, { success: true, result: { ok: 1 } })));

  expect(await user.answerTo(messageId)).toBe("Done.");
  const calls = await agent.calls();
  expect(calls.map(({ state }) => state)).toEqual(uses.map(() => "success"));
});

test("50 calls in flight, answered in random order, each get their own result", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { tools: [announced("scan")] });
  const uses = Array.from({ length: 50 }, (_, index) => toolUse("scan", { index }, `toolu_${index}`));
  agent.model.script([reply(uses), reply([text("Done.")])]);
  const messageId = await user.say("Go");
  await user.until(() => user.all("tool_use_request").length === 50, "50 requests");
  const requests = user.all("tool_use_request").toSorted(() => Math.random() - 0.5);
  await Promise.all(
    requests.map(({ id, parameters }) => user.answer(id, { success: true, result: { ...parameters } })),
  );
  await user.answerTo(messageId);
  const results = messagesTo(agent)
    .at(-1)
    ?.content.map((block) => [block.tool_use_id, block.content]);
  expect(results).toEqual(uses.map((_, index) => [`toolu_${index}`, JSON.stringify({ index })]));
  expect(agent.model.rejections).toEqual([]);
});
