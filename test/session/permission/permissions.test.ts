import { expect, test } from "vitest";
import { z } from "zod";
import { connect } from "../../../src/store/database/pool.ts";
import { extendPermission } from "../../../src/store/permissions/extend-permission.ts";
import { replyToPermission } from "../../../src/store/permissions/reply-to-permission.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { toolResults } from "../../support/model-view.ts";
import { requestWrite, FEATURES, WRITE } from "./request-write.ts";

const policy = (changes: object = {}) => ({ permission: { rules: [], byVoice: false, waitMs: 60_000, ...changes } });

const states = (agent: TestAgent) => agent.sql<{ state: string; replied_via: string | null }[]>`
  select state, replied_via from permissions order by created_at`;

test("a call waits for its permission as pending, and runs when it is approved", async () => {
  const { agent, user, ran, messageId, request } = await requestWrite(["Done."]);
  expect(request).toMatchObject({ type: "edit", pattern: ["notes/a.md"], title: "Write notes/a.md" });
  expect(JSON.parse(request.metadataJson)).toEqual({
    folder: "notes",
    toolName: "write",
    input: { path: "notes/a.md" },
    allowEditedInput: false,
    expiresAt: expect.any(Number),
    leftMs: expect.any(Number),
  });
  expect(await agent.calls()).toMatchObject([{ state: "pending" }]);
  expect(ran).toEqual([]);
  await user.send({ type: "permission_response", body: { permissionId: request.id, response: "approve" } });

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(ran).toEqual(["notes/a.md"]);
  expect(toolResults(agent)).toEqual([{ content: "wrote notes/a.md", isError: false }]);
  expect(await states(agent)).toEqual([{ state: "approved", replied_via: "data" }]);
  expect(agent.model.rejections).toEqual([]);
});

test.each([
  [{}, "Not run: the participant rejected it"],
  [{ message: "Not that file" }, "Not run: the participant rejected it. What the participant said: Not that file"],
])("a rejected call does not run, and the model reads why (%j)", async (extra, expected) => {
  const { agent, user, ran, messageId, permissionId } = await requestWrite(["All right."]);
  await user.send({ type: "permission_response", body: { permissionId, response: "reject", ...extra } });

  expect(await user.answerTo(messageId)).toBe("All right.");
  expect(ran).toEqual([]);
  expect(toolResults(agent)).toEqual([{ content: expected, isError: true }]);
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "permission_denied" }]);
});

test("what a grant covers is not asked about again, and anything else is", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([
    WRITE,
    reply([text("One.")]),
    WRITE,
    reply([text("Two.")]),
    reply([toolUse("write", { path: "notes/b.md" })]),
    reply([text("Three.")]),
  ]);
  const first = await user.say("Write it");
  const { id: permissionId } = await user.next("permission_request");
  await user.send({ type: "permission_response", body: { permissionId, response: "always" } });
  expect(await user.answerTo(first)).toBe("One.");

  expect(await user.answerTo(await user.say("Again"))).toBe("Two.");
  expect(user.all("permission_request")).toHaveLength(1);
  const third = await user.say("Write another");
  const other = await user.next("permission_request", ({ id }) => id !== permissionId);
  await user.send({ type: "permission_response", body: { permissionId: other.id, response: "reject" } });
  expect(await user.answerTo(third)).toBe("Three.");
  expect(ran).toEqual(["notes/a.md", "notes/a.md"]);
});

test("a grant applies in another session of the same identity, and for nobody else", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  await agent.sql`
    insert into permission_grants (id, participant_identity, tool_name, pattern)
    values ('grant', 'user', 'write', 'notes/*')`;
  const user = await agent.client("user", FEATURES);
  const other = await agent.client("other", FEATURES);
  agent.model.script([WRITE, reply([text("Done.")]), WRITE, reply([text("No.")])]);
  expect(await user.answerTo(await user.say("Write it"))).toBe("Done.");

  const asked = await other.say("Write it, too");
  const { id: permissionId } = await other.next("permission_request");
  await other.send({ type: "permission_response", body: { permissionId, response: "reject" } });
  expect(await other.answerTo(asked)).toBe("No.");
  expect(ran).toEqual(["notes/a.md"]);
});

test("an operation that a rule denies is not asked about, and no grant overrides the rule", async () => {
  const { tool, ran } = guardedTool();
  const rules = [
    { type: "edit", pattern: "notes/**", action: "deny" as const },
    { type: "*", pattern: "**", action: "allow" as const },
  ];
  await using agent = await TestAgent.start({ tools: { write: tool }, policy: policy({ rules }) });
  await agent.sql`
    insert into permission_grants (id, participant_identity, tool_name, pattern)
    values ('grant', 'user', 'write', '**')`;
  const user = await agent.client("user", FEATURES);
  agent.model.script([WRITE, reply([text("No.")]), reply([toolUse("write", { path: "todo" })]), reply([text("Yes.")])]);

  expect(await user.answerTo(await user.say("Write it"))).toBe("No.");
  expect(toolResults(agent)).toEqual([
    { content: "Not run: a rule does not allow it (edit: notes/a.md)", isError: true },
  ]);
  expect(await user.answerTo(await user.say("Write another"))).toBe("Yes.");
  expect(ran).toEqual(["todo"]);
  expect(user.all("permission_request")).toEqual([]);
});

test("a rule for a tool's name asks before a tool that declares no permission", async () => {
  const look = defineTool({ description: "Looks.", input: z.object({}), readOnly: true, run: () => "seen" });
  const rules = [{ type: "tool", pattern: "look", action: "ask" as const }];
  await using agent = await TestAgent.start({ tools: { look }, policy: policy({ rules }) });
  const user = await agent.client("user", FEATURES);
  agent.model.script([reply([toolUse("look")]), reply([text("Done.")])]);
  const messageId = await user.say("Look");
  const { id: permissionId, type, pattern, title } = await user.next("permission_request");
  expect({ type, pattern, title }).toEqual({ type: "tool", pattern: ["look"], title: "Use look" });
  await user.send({ type: "permission_response", body: { permissionId, response: "once" } });

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(toolResults(agent)).toEqual([{ content: "seen", isError: false }]);
});

test("silence is a no: after its time a request has expired, whatever the tool's own timeout is", async () => {
  const { agent, user, ran, messageId, permissionId } = await requestWrite(["Nobody answered."], {
    guarded: { timeoutMs: 50 },
    policy: policy({ waitMs: 1_000 }),
  });

  expect(await user.answerTo(messageId)).toBe("Nobody answered.");
  expect(toolResults(agent)).toEqual([{ content: "Not run: no answer within 1 s", isError: true }]);
  expect(await states(agent)).toEqual([{ state: "expired", replied_via: null }]);
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  expect(await user.next("error_message")).toMatchObject({ code: 202, originatingId: permissionId });
  expect(ran).toEqual([]);
});

test("of two answers one wins, and the other's sender is told so", async () => {
  const { agent, user, ran, messageId, permissionId } = await requestWrite(["So be it."]);
  await Promise.all(
    (["approve", "reject"] as const).map((response) =>
      user.send({ type: "permission_response", body: { permissionId, response } }),
    ),
  );

  expect(await user.answerTo(messageId)).toBe("So be it.");
  expect(await user.next("error_message")).toMatchObject({ code: 202, originatingId: permissionId });
  const [decided] = await states(agent);
  expect(ran).toHaveLength(decided?.state === "approved" ? 1 : 0);
});

test("only the participant that was asked can answer, and only the request that was made", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user", FEATURES);
  const other = await agent.client("other", FEATURES);
  agent.model.script([WRITE, reply([text("No.")])]);
  const messageId = await user.say("Write it");
  const { id: permissionId } = await user.next("permission_request");

  await other.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  expect(await other.next("error_message")).toMatchObject({ code: 401, originatingId: permissionId });
  await user.send({ type: "permission_response", body: { permissionId: "nothing", response: "approve" } });
  expect(await user.next("error_message")).toMatchObject({ code: 202, originatingId: "nothing" });
  expect(other.all("permission_request")).toEqual([]);
  expect(await states(agent)).toEqual([{ state: "asked", replied_via: null }]);
  await user.send({ type: "permission_response", body: { permissionId, response: "reject" } });
  expect(await user.answerTo(messageId)).toBe("No.");
  expect(ran).toEqual([]);
});

test("an answer that another process has stored is noticed", async () => {
  const { agent, user, ran, messageId, permissionId, request } = await requestWrite(["Done."]);
  const { sessionId } = request;
  const sql = connect(agent.databaseUrl, { maxConnections: 1 });
  const decision = { kind: "approve", isAlways: false } as const;
  await replyToPermission(sql, { permissionId, sessionId, by: "user", via: "http", decision });
  await sql.end();

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(ran).toEqual(["notes/a.md"]);
});

test("a stop withdraws the question with its call", async () => {
  const { agent, user, ran, messageId, permissionId } = await requestWrite([]);
  await user.send({ type: "control_stop", body: {} });
  await user.answerTo(messageId);
  await expect.poll(() => states(agent)).toEqual([{ state: "withdrawn", replied_via: null }]);

  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  expect(await user.next("error_message")).toMatchObject({ code: 202 });
  await expect.poll(() => agent.calls()).toMatchObject([{ state: "cancelled" }]);
  expect(ran).toEqual([]);
});

test("edited arguments are validated, run and shown; invalid ones leave the question open", async () => {
  const { tool, ran } = guardedTool({ allowEditedInput: true });
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user", { features: ["permissions", "tool_call_state"] });
  agent.model.script([WRITE, reply([text("Done.")])]);
  const messageId = await user.say("Write it");
  const { id: permissionId } = await user.next("permission_request");
  for (const editedInputJson of ["{", "[]", '{"path":7}', '{"path":""}']) {
    await user.send({ type: "permission_response", body: { permissionId, response: "approve", editedInputJson } });
  }
  await user.until(() => user.all("error_message").length === 4, "four errors");
  // The four answers are checked independently, so their errors arrive in any order.
  const errors = user.all("error_message").map(({ code, message }) => `${code} ${message}`);
  expect(new Set(errors)).toEqual(
    new Set([
      "101 permission_response.editedInputJson: expected JSON",
      "101 permission_response.editedInputJson: expected an object",
      '101 permission_response.editedInputJson: Invalid parameter "path": must be string',
      '101 permission_response.editedInputJson: Invalid parameter "path": must NOT have fewer than 1 characters',
    ]),
  );
  const editedInputJson = '{"path":"notes/b.md"}';
  await user.send({ type: "permission_response", body: { permissionId, response: "approve", editedInputJson } });

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(ran).toEqual(["notes/b.md"]);
  const content = 'The participant changed the arguments to {"path":"notes/b.md"}.\nwrote notes/b.md';
  expect(toolResults(agent)).toEqual([{ content, isError: false }]);
  const shown = await user.next("tool_call_state", ({ status }) => status === "success");
  expect(JSON.parse(shown.metadataJson)).toMatchObject({ editedInput: editedInputJson });
  const rows = await agent.sql`select input, edited_input from tool_calls join permissions on call_id = tool_calls.id`;
  expect(rows).toEqual([{ input: { path: "notes/a.md" }, edited_input: { path: "notes/b.md" } }]);
});

const NO_SECRETS = [{ type: "edit", pattern: "secrets/**", action: "deny" as const }];

test("edited arguments that a rule denies are no answer: the question stays open for another one", async () => {
  const { agent, user, ran, messageId, permissionId } = await requestWrite(["Done."], {
    guarded: { allowEditedInput: true },
    policy: policy({ rules: NO_SECRETS }),
  });
  const editedInputJson = '{"path":"secrets/key"}';
  await user.send({ type: "permission_response", body: { permissionId, response: "approve", editedInputJson } });

  expect(await user.next("error_message")).toMatchObject({
    code: 101,
    message: "permission_response.editedInputJson: a rule does not allow it (edit: secrets/key)",
    originatingId: permissionId,
  });
  expect(await states(agent)).toEqual([{ state: "asked", replied_via: null }]);
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(ran).toEqual(["notes/a.md"]);
});

test("arguments that a rule denies are not run, even if a process with other rules has stored them", async () => {
  const { agent, user, ran, messageId, permissionId, request } = await requestWrite(["No."], {
    guarded: { allowEditedInput: true },
    policy: policy({ rules: NO_SECRETS }),
  });
  const { sessionId } = request;
  const edited = { input: { path: "secrets/key" }, patterns: ["secrets/key"] };
  const decision = { kind: "approve", isAlways: false, edited } as const;
  await replyToPermission(agent.sql, { permissionId, sessionId, by: "user", via: "http", decision });

  expect(await user.answerTo(messageId)).toBe("No.");
  expect(toolResults(agent).map(({ content }) => content)).toEqual([
    "Not run: a rule does not allow it (edit: secrets/key)",
  ]);
  expect(ran).toEqual([]);
});

test("always with edited arguments grants what these touch, and not what was shown", async () => {
  const { tool, ran } = guardedTool({ allowEditedInput: true });
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user", FEATURES);
  const EDITED = reply([toolUse("write", { path: "notes/b.md" })]);
  agent.model.script([WRITE, reply([text("One.")]), EDITED, reply([text("Two.")]), WRITE, reply([text("Three.")])]);
  const first = await user.say("Write it");
  const { id: permissionId } = await user.next("permission_request");
  const editedInputJson = '{"path":"notes/b.md"}';
  await user.send({ type: "permission_response", body: { permissionId, response: "always", editedInputJson } });
  expect(await user.answerTo(first)).toBe("One.");

  expect(await user.answerTo(await user.say("What I made of it"))).toBe("Two.");
  const third = await user.say("What was shown");
  const again = await user.next("permission_request", ({ id }) => id !== permissionId);
  await user.send({ type: "permission_response", body: { permissionId: again.id, response: "reject" } });
  expect(await user.answerTo(third)).toBe("Three.");
  expect(ran).toEqual(["notes/b.md", "notes/b.md"]);
  expect(await agent.sql`select pattern from permission_grants`).toEqual([{ pattern: "notes/b.md" }]);
});

test("a tool that does not allow edits accepts no edited arguments", async () => {
  const { agent, user, permissionId } = await requestWrite(["Done."]);
  const body = { permissionId, response: "approve", editedInputJson: '{"path":"b"}' } as const;
  await user.send({ type: "permission_response", body });

  expect(await user.next("error_message")).toMatchObject({ code: 101 });
  expect(await states(agent)).toEqual([{ state: "asked", replied_via: null }]);
});

test("a message with an approval is refused by its field name, because the model would not receive it", async () => {
  const { agent, user, permissionId } = await requestWrite(["Done."]);
  await user.send({ type: "permission_response", body: { permissionId, response: "approve", message: "But quickly" } });

  expect(await user.next("error_message")).toMatchObject({
    code: 101,
    message: "permission_response.message: only allowed with a rejection",
    originatingId: permissionId,
  });
  expect(await states(agent)).toEqual([{ state: "asked", replied_via: null }]);
});

test("an approval for other arguments than those that would run does not count", async () => {
  const { agent, user, ran, messageId, permissionId } = await requestWrite(["No."]);
  await agent.sql`update permissions set input_hash = 'of something else'`;
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });

  expect(await user.answerTo(messageId)).toBe("No.");
  expect(toolResults(agent)).toEqual([
    { content: "Not run: the approval was given for different arguments", isError: true },
  ]);
  expect(ran).toEqual([]);
});

test("a tool whose pattern or title fails does not run, and the model is told which one failed", async () => {
  const tool = defineTool({
    description: "Broken.",
    input: z.object({}),
    permission: {
      type: "edit",
      pattern: () => {
        throw new Error("no path");
      },
      title: () => "Write",
    },
    run: () => "ran",
  });
  await using agent = await TestAgent.start({ tools: { broken: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([reply([toolUse("broken")]), reply([text("Broken.")])]);

  expect(await user.answerTo(await user.say("Write it"))).toBe("Broken.");
  expect(toolResults(agent)).toEqual([
    { content: "Not run: the tool's permission.pattern failed: no path", isError: true },
  ]);
});

test("more time postpones the deadline, and resets the client's clock", async () => {
  const { agent, user, messageId, permissionId, request } = await requestWrite(["Nobody answered."], {
    policy: policy({ waitMs: 2_000 }),
  });
  const extension = { permissionId, sessionId: request.sessionId, by: "user", waitMs: 3_000 };
  const askedAt = performance.now();

  const extended = await extendPermission(agent.sql, extension);
  const again = await user.next("permission_request", (body) => body.metadataJson !== request.metadataJson);

  expect(again.id).toBe(permissionId);
  expect(JSON.parse(again.metadataJson)).toMatchObject({ expiresAt: extended?.expiresAt });
  expect(await user.answerTo(messageId)).toBe("Nobody answered.");
  expect(performance.now() - askedAt).toBeGreaterThan(2_900);
  expect(await states(agent)).toEqual([{ state: "expired", replied_via: null }]);
});
