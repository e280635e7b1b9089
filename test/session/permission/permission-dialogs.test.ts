import { expect, test } from "vitest";
import { type PermissionDecision, replyToPermission } from "../../../src/store/permissions/reply-to-permission.ts";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";

const FEATURES = { features: ["permissions"] };
const WRITE = reply([toolUse("write", { path: "notes/a.md" })]);

/** The participant is shown a request, and nothing but requests and what becomes of them. */
async function ask({ waitMs = 60_000 }: { readonly waitMs?: number } = {}) {
  const agent = await TestAgent.start({
    tools: { write: guardedTool().tool },
    policy: { permission: { rules: [], byVoice: false, waitMs } },
  });
  const user = await agent.client("user", FEATURES);
  agent.model.script([WRITE, reply([text("So be it.")])]);
  const messageId = await user.say("Write it");
  const { id: permissionId, sessionId } = await user.next("permission_request");
  /** As another process stores it, for whichever way the same identity has answered. */
  const answerElsewhere = (decision: PermissionDecision) =>
    replyToPermission(agent.sql, { permissionId, sessionId, by: "user", via: "http", decision });
  const dispose = () => agent[Symbol.asyncDispose]();
  return { agent, user, messageId, permissionId, sessionId, answerElsewhere, [Symbol.asyncDispose]: dispose };
}

test.each([
  ["approve", { kind: "approve", isAlways: false }, "approved"],
  ["always", { kind: "approve", isAlways: true }, "approved"],
  ["reject", { kind: "reject" }, "rejected"],
] as const)("who is shown a question hears that it was answered elsewhere (%s)", async (response, decision, state) => {
  await using talk = await ask();
  const { user, permissionId, sessionId } = talk;
  await talk.answerElsewhere(decision);

  expect(await user.next("permission_response")).toMatchObject({ permissionId, sessionId, response, state });
});

test("it hears that its own answer was the one", async () => {
  await using talk = await ask();
  const { user, permissionId } = talk;
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });

  expect(await user.next("permission_response")).toMatchObject({
    permissionId,
    response: "approve",
    state: "approved",
  });
});

test("it hears that nobody has answered in time", async () => {
  await using talk = await ask({ waitMs: 1_000 });
  const { user, permissionId } = talk;

  expect(await user.next("permission_response")).toMatchObject({ permissionId, response: "reject", state: "expired" });
});

test("it hears that the call was stopped", async () => {
  await using talk = await ask();
  const { user, permissionId } = talk;
  await user.send({ type: "control_stop", body: {} });

  expect(await user.next("permission_response")).toMatchObject({
    permissionId,
    response: "reject",
    state: "withdrawn",
  });
});

test("neither another participant hears of it, nor a client that has not asked for permissions", async () => {
  await using talk = await ask();
  const { agent, user, messageId } = talk;
  const other = await agent.client("other", FEATURES);
  await user.configure({ features: [] });
  await talk.answerElsewhere({ kind: "approve", isAlways: false });
  await user.answerTo(messageId);
  // What is sent to all comes after it.
  await other.next("assistant_sentence", ({ isFinal }) => isFinal);

  expect([...user.all("permission_response"), ...other.all("permission_response")]).toEqual([]);
});

test("a client that was away hears of it when it comes back", async () => {
  await using talk = await ask();
  const { agent, user, permissionId } = talk;
  const watcher = await agent.client("watcher");
  const lastSequenceSeen = Math.min(...user.received.map(({ stanzaId }) => stanzaId));
  await user.leave();
  await talk.answerElsewhere({ kind: "reject" });
  await watcher.next("assistant_sentence", ({ isFinal }) => isFinal);

  const again = await Participant.join(agent.roomName, "user");
  // The worker may not have heard yet that it left, and have sent it what is lost.
  await again.configure({ ...FEATURES, lastSequenceSeen });
  expect(await again.next("permission_response")).toMatchObject({ permissionId, state: "rejected" });
  await again.leave();
});

test("what was answered while no worker had the room is told by the next one", async () => {
  await using talk = await ask();
  const { agent, user, permissionId } = talk;
  await agent.leave();
  await talk.answerElsewhere({ kind: "approve", isAlways: false });
  await agent.join();
  await user.configure(FEATURES);

  expect(await user.next("permission_response")).toMatchObject({ permissionId, state: "approved" });
});
