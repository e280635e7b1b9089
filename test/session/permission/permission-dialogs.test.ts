import { expect, test } from "vitest";
import { type PermissionDecision, replyToPermission } from "../../../src/store/permissions/reply-to-permission.ts";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";

const FEATURES = { features: ["permissions"] };
const WRITE = reply([toolUse("write", { path: "notes/a.md" })]);

/**
 * Makes the worker ask a participant for permission. The client's only feature is `permissions`, so it gets requests
 * and their outcomes.
 */
async function ask({ waitMs = 60_000 }: { readonly waitMs?: number } = {}) {
  const agent = await TestAgent.start({
    tools: { write: guardedTool().tool },
    policy: { permission: { rules: [], byVoice: false, waitMs } },
  });
  const user = await agent.client("user", FEATURES);
  agent.model.script([WRITE, reply([text("So be it.")])]);
  const messageId = await user.say("Write it");
  const { id: permissionId, sessionId } = await user.next("permission_request");
  /** Stores an answer by the same participant, as the HTTP server of another process does. */
  const answerElsewhere = (decision: PermissionDecision) =>
    replyToPermission(agent.sql, { permissionId, sessionId, by: "user", via: "http", decision });
  const dispose = () => agent[Symbol.asyncDispose]();
  return { agent, user, messageId, permissionId, sessionId, answerElsewhere, [Symbol.asyncDispose]: dispose };
}

test.each([
  ["approve", { kind: "approve", isAlways: false }, "approved"],
  ["always", { kind: "approve", isAlways: true }, "approved"],
  ["reject", { kind: "reject" }, "rejected"],
] as const)(
  "a participant who is shown a question is notified that it was answered elsewhere (%s)",
  async (response, decision, state) => {
    await using talk = await ask();
    const { user, permissionId, sessionId } = talk;
    await talk.answerElsewhere(decision);

    expect(await user.next("permission_response")).toMatchObject({ permissionId, sessionId, response, state });
  },
);

test("a participant is notified that its own answer counted", async () => {
  await using talk = await ask();
  const { user, permissionId } = talk;
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });

  expect(await user.next("permission_response")).toMatchObject({
    permissionId,
    response: "approve",
    state: "approved",
  });
});

test("a participant is notified that nobody has answered in time", async () => {
  await using talk = await ask({ waitMs: 1_000 });
  const { user, permissionId } = talk;

  expect(await user.next("permission_response")).toMatchObject({ permissionId, response: "reject", state: "expired" });
});

test("a participant is notified that the call was stopped", async () => {
  await using talk = await ask();
  const { user, permissionId } = talk;
  await user.send({ type: "control_stop", body: {} });

  expect(await user.next("permission_response")).toMatchObject({
    permissionId,
    response: "reject",
    state: "withdrawn",
  });
});

test("neither another participant is notified, nor a client that has not asked for permissions", async () => {
  await using talk = await ask();
  const { agent, user, messageId } = talk;
  const other = await agent.client("other", FEATURES);
  await user.configure({ features: [] });
  await talk.answerElsewhere({ kind: "approve", isAlways: false });
  await user.answerTo(messageId);
  // Waits for a message that goes to everyone. A permission_response would have arrived before it.
  await other.next("assistant_sentence", ({ isFinal }) => isFinal);

  expect([...user.all("permission_response"), ...other.all("permission_response")]).toEqual([]);
});

test("a client that was away is notified when it comes back", async () => {
  await using talk = await ask();
  const { agent, user, permissionId } = talk;
  const watcher = await agent.client("watcher");
  const lastSequenceSeen = Math.min(...user.received.map(({ stanzaId }) => stanzaId));
  await user.leave();
  await talk.answerElsewhere({ kind: "reject" });
  await watcher.next("assistant_sentence", ({ isFinal }) => isFinal);

  const again = await Participant.join(agent.roomName, "user");
  // The worker may have sent the response before it noticed that the client had left. With `lastSequenceSeen`, the
  // client gets it nevertheless.
  await again.configure({ ...FEATURES, lastSequenceSeen });
  expect(await again.next("permission_response")).toMatchObject({ permissionId, state: "rejected" });
  await again.leave();
});

test("an answer given while no worker was in the room is reported by the next one", async () => {
  await using talk = await ask();
  const { agent, user, permissionId } = talk;
  await agent.leave();
  await talk.answerElsewhere({ kind: "approve", isAlways: false });
  await agent.join();
  await user.configure(FEATURES);

  expect(await user.next("permission_response")).toMatchObject({ permissionId, state: "approved" });
});
