import { expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { agentIn, rawPacket } from "../../support/attack.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";
import { announced, scriptOf } from "../../support/client-tool.ts";
import { lastContent } from "../../support/model-view.ts";

const MB = 1_000_000;

test("F9, F10: a 1 MB parameter and a 1 MB result are accepted", async () => {
  await using agent = await TestAgent.start({
    policy: { context: { budgetTokens: 30_000, hardTokens: 1_000_000 } } as never,
  });
  const user = await agent.client("user", { tools: [announced("scan")] });
  agent.model.script(scriptOf("scan", { page: "p".repeat(MB) }));
  const messageId = await user.say("Go");
  const request = await user.next("tool_use_request");
  expect(request.parameters["page"]).toHaveLength(MB);
  await user.answer(request.id, { success: true, result: { page: "r".repeat(MB) } });
  await user.answerTo(messageId);
  const [call] = await agent.calls();
  expect(call?.result).toEqual({ page: "r".repeat(MB) });
  expect(lastContent(agent)).toMatch(/^\{"page":"r+\n?\[truncated: /);
});

test("F9: parameters above the limit fail the call immediately, and are not sent", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", { tools: [announced("scan")] });
  agent.model.script(scriptOf("scan", { page: "p".repeat(1_100_000) }));
  // The answer comes within 10 s, although the call would have 30 s.
  await user.answerTo(await user.say("Go"));
  expect(user.all("tool_use_request")).toMatchObject([{ parameters: {}, execution: "server" }]);
  expect(user.all("tool_use_result")).toMatchObject([{ success: false, errorCode: "invalid_parameters" }]);
  const [call] = await agent.calls();
  expect(call?.state).toBe("error");
  expect(call?.error_code).toBe("invalid_parameters");
});

for (const [what, result] of [
  [
    "a result above 4 MiB",
    { a: "r".repeat(MB), b: "r".repeat(MB), c: "r".repeat(MB), d: "r".repeat(MB), e: "r".repeat(MB) },
  ],
  ["a string above 1 MiB", { a: "r".repeat(1_100_000) }],
] as const) {
  test(`F10: ${what} is an error for the model and for the client, and the session continues`, async () => {
    await using agent = await TestAgent.start();
    const user = await agent.client("user", { tools: [announced("scan")] });
    agent.model.script(scriptOf("scan"));
    const messageId = await user.say("Go");
    const { id } = await user.next("tool_use_request");
    await user.sendBytes(rawPacket({ type: 7, stanzaId: 50, body: { id, requestId: id, success: true, result } }));
    await user.answerTo(messageId, 15_000);
    expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "result_too_large" }]);
    expect(await user.next("error_message")).toMatchObject({ code: 413, originatingId: id });
    agent.model.script([reply([text("Still here.")])]);
    expect(await user.answerTo(await user.say("And?"))).toBe("Still here.");
  });
}

test("many long streams that never end are refused beyond a limit, and do not stop the session", async () => {
  await using agent = await TestAgent.start();
  const attacker = await agent.client("attacker");
  const user = await agent.client("user");
  const destinationIdentities = [agentIn(attacker)];
  for (let stream = 0; stream < 100; stream++) {
    const writer = await attacker.room.localParticipant?.streamBytes({ topic: "parley", destinationIdentities });
    await writer?.write(new Uint8Array(50_000));
  }
  expect(await attacker.next("error_message")).toMatchObject({ code: 429 });
  agent.model.script([reply([text("Still here.")])]);
  expect(await user.answerTo(await user.say("And?"))).toBe("Still here.");
});

test("F38: a client that supports packets of 15 kB but no streams can talk, announce its tools and run them", async () => {
  await using agent = await TestAgent.start();
  await using user = await Participant.join(agent.roomName, "user");
  user.room.unregisterByteStreamHandler("parley");
  await user.send({ type: "configuration", body: { tools: [announced("scan")] } });
  await user.next("acknowledgement");
  agent.model.script(scriptOf("scan"));
  const messageId = await user.say("Go");
  const { id } = await user.next("tool_use_request");
  await user.answer(id, { success: true, result: { page: "r".repeat(14_500) } });
  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(await agent.calls()).toMatchObject([{ state: "success", result: { page: "r".repeat(14_500) } }]);
});
