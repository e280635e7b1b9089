import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { PermissionDenied } from "../../../src/tool/permission-denied.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { toolResults } from "../../support/model-view.ts";

const FEATURES = { features: ["permissions", "tool_call_state"] };
const VISIT = reply([toolUse("visit", { hosts: ["a.example"] })]);
const DONE = reply([text("Done.")]);

interface Options {
  readonly timeoutMs?: number;
  readonly idempotent?: boolean;
  /** Whether the tool asks for all hosts at once. */
  readonly atOnce?: boolean;
  /** Whether the tool continues without the hosts that were refused. */
  readonly goesOn?: boolean;
}

/** A tool that asks for each host while it runs. `visited` are the hosts that were allowed, `begun` counts the runs. */
function visitTool({ atOnce = false, goesOn = false, ...options }: Options = {}) {
  const visited: string[] = [];
  const seen = { begun: 0 };
  const tool = defineTool({
    description: "Visits hosts.",
    input: z.object({ hosts: z.array(z.string()) }),
    ...options,
    run: async ({ hosts }, { ask }) => {
      seen.begun += 1;
      const visit = async (host: string) => {
        try {
          await ask({ type: "network", pattern: host, title: `Visit ${host}`, metadata: { host } });
          visited.push(host);
        } catch (error) {
          if (!goesOn || !(error instanceof PermissionDenied)) throw error;
          visited.push(`not ${host}: ${error.message}`);
        }
      };
      if (atOnce) await Promise.all(hosts.map(visit));
      else for (const host of hosts) await visit(host);
      return `visited ${visited.join(", ")}`;
    },
  });
  return { tool, visited, seen };
}

const policy = (permission: object = {}) => ({
  permission: { rules: [], byVoice: false, waitMs: 120_000, ...permission },
});
const storedPermissions = (agent: TestAgent) =>
  agent.sql`select state, type, while_running from permissions order by created_at`;
const answer = (permissionId: string, response: "approve" | "reject" | "always") =>
  ({ type: "permission_response", body: { permissionId, response } }) as const;

test("a running tool asks, its clock stops meanwhile, and it continues when it is allowed", async () => {
  const { tool, visited } = visitTool({ timeoutMs: 300 });
  await using agent = await TestAgent.start({ tools: { visit: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([VISIT, DONE]);
  const messageId = await user.say("Visit it");

  const request = await user.next("permission_request");
  expect(request).toMatchObject({ type: "network", pattern: ["a.example"], title: "Visit a.example" });
  expect(JSON.parse(request.metadataJson)).toMatchObject({ host: "a.example", toolName: "visit" });
  const waits = await user.next("tool_call_state", ({ metadataJson }) => metadataJson.includes("waitsForPermission"));
  expect(waits).toMatchObject({ callId: request.callId, status: "running" });
  expect(JSON.parse(waits.metadataJson)).not.toHaveProperty("deadlineAt");
  await new Promise((resolve) => setTimeout(resolve, 400));
  await user.send(answer(request.id, "approve"));

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(visited).toEqual(["a.example"]);
  expect(toolResults(agent)).toEqual([{ content: "visited a.example", isError: false }]);
  expect(await storedPermissions(agent)).toEqual([{ state: "approved", type: "network", while_running: true }]);
  const states = user.all("tool_call_state").map(({ status, metadataJson }) => {
    return `${status}${metadataJson.includes("waitsForPermission") ? " asks" : ""}`;
  });
  expect(states).toEqual(["pending", "running", "running asks", "running", "success"]);
  expect(agent.model.rejections).toEqual([]);
});

test("after a no that the tool does not catch, the call ends as permission_denied", async () => {
  const { tool, visited } = visitTool();
  await using agent = await TestAgent.start({ tools: { visit: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([VISIT, DONE]);
  const messageId = await user.say("Visit it");
  await user.send(answer((await user.next("permission_request")).id, "reject"));

  await user.answerTo(messageId);
  expect(visited).toEqual([]);
  expect(toolResults(agent)).toEqual([{ content: "Not allowed: the participant rejected it", isError: true }]);
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "permission_denied" }]);
});

test("several questions in one call, one after another: a no to one leaves the others open", async () => {
  const { tool } = visitTool({ goesOn: true });
  await using agent = await TestAgent.start({ tools: { visit: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([reply([toolUse("visit", { hosts: ["a.example", "b.example"] })]), DONE]);
  const messageId = await user.say("Visit them");
  await user.send(answer((await user.next("permission_request")).id, "reject"));
  const second = await user.next("permission_request", ({ pattern }) => pattern[0] === "b.example");
  await user.send(answer(second.id, "approve"));

  await user.answerTo(messageId);
  const content = "visited not a.example: Not allowed: the participant rejected it, b.example";
  expect(toolResults(agent)).toEqual([{ content, isError: false }]);
  expect((await storedPermissions(agent)).map(({ state }) => state)).toEqual(["rejected", "approved"]);
});

test("several questions at once: the clock continues after the last, and the answers may come in any order", async () => {
  const { tool, visited } = visitTool({ atOnce: true, timeoutMs: 500 });
  await using agent = await TestAgent.start({ tools: { visit: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([reply([toolUse("visit", { hosts: ["a.example", "b.example"] })]), DONE]);
  const messageId = await user.say("Visit them");
  const second = await user.next("permission_request", ({ pattern }) => pattern[0] === "b.example");
  const first = await user.next("permission_request", ({ pattern }) => pattern[0] === "a.example");
  await user.send(answer(second.id, "approve"));
  await expect.poll(() => visited).toEqual(["b.example"]);
  await new Promise((resolve) => setTimeout(resolve, 600));
  await user.send(answer(first.id, "approve"));

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(visited).toEqual(["b.example", "a.example"]);
});

test("rules are checked first: what they allow is not asked about, and what they deny is refused", async () => {
  const { tool } = visitTool({ goesOn: true });
  const rules = [
    { type: "network", pattern: "*", action: "allow" },
    { type: "network", pattern: "b.example", action: "deny" },
  ] as const;
  await using agent = await TestAgent.start({ tools: { visit: tool }, policy: policy({ rules }) });
  const user = await agent.client("user", FEATURES);
  agent.model.script([reply([toolUse("visit", { hosts: ["a.example", "b.example"] })]), DONE]);

  await user.answerTo(await user.say("Visit them"));
  const content = "visited a.example, not b.example: Not allowed: a rule does not allow it (network: b.example)";
  expect(toolResults(agent)).toEqual([{ content, isError: false }]);
  expect(await storedPermissions(agent)).toEqual([]);
});

test("a grant is not asked about again, but another type of operation is", async () => {
  const { tool } = visitTool();
  const kinds = defineTool({
    description: "Asks for the same under two types.",
    input: z.object({}),
    run: async (_, { ask }) => {
      for (const type of ["read", "send", "read"]) await ask({ type, pattern: "x", title: `${type} x` });
    },
  });
  await using agent = await TestAgent.start({ tools: { visit: tool, kinds } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([reply([toolUse("kinds")]), DONE]);
  const messageId = await user.say("Go");
  await user.send(answer((await user.next("permission_request", ({ type }) => type === "read")).id, "always"));
  await user.send(answer((await user.next("permission_request", ({ type }) => type === "send")).id, "approve"));

  await user.answerTo(messageId);
  expect(user.all("permission_request")).toHaveLength(2);
  expect(await agent.calls()).toMatchObject([{ name: "kinds", state: "success" }]);
});

test("silence is a no: the question expires, and the tool continues without it", async () => {
  const { tool } = visitTool({ goesOn: true });
  await using agent = await TestAgent.start({ tools: { visit: tool }, policy: policy({ waitMs: 300 }) });
  const user = await agent.client("user", FEATURES);
  agent.model.script([VISIT, DONE]);

  await user.answerTo(await user.say("Visit it"));
  expect(toolResults(agent)[0]?.content).toBe("visited not a.example: Not allowed: no answer within 0 s");
});

test("a stop ends the call and withdraws its question, and the dialog is closed", async () => {
  const { tool, visited } = visitTool({ goesOn: true });
  await using agent = await TestAgent.start({ tools: { visit: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([VISIT]);
  const messageId = await user.say("Visit it");
  const { id: permissionId } = await user.next("permission_request");
  await user.send({ type: "control_stop", body: {} });

  await user.answerTo(messageId);
  expect(await user.next("permission_response")).toMatchObject({ permissionId, state: "withdrawn" });
  await expect.poll(() => agent.calls()).toMatchObject([{ state: "cancelled" }]);
  expect(visited).toEqual([]);
});

test("a new message is answered while a running tool asks, and the outcome is reported later", async () => {
  const { tool } = visitTool();
  await using agent = await TestAgent.start({ tools: { visit: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([VISIT, reply([text("Yes?")]), reply([text("It is visited.")])]);
  await user.say("Visit it");
  const { id } = await user.next("permission_request");

  expect(await user.answerTo(await user.say("Are you there?"))).toBe("Yes?");
  await user.send(answer(id, "approve"));
  await user.next("assistant_sentence", ({ text: said }) => said === "It is visited.");
  expect(toolResults(agent)).toEqual([{ content: "visited a.example", isError: false }]);
  expect(agent.model.rejections).toEqual([]);
});

test.each([
  [false, 1],
  [true, 2],
])(
  "if a worker dies meanwhile, the question is closed, and a tool (idempotent: %s) has run %i times",
  async (idempotent, runs) => {
    const { tool, seen } = visitTool({ idempotent });
    await using agent = await TestAgent.start({ tools: { visit: tool } });
    const user = await agent.client("user", FEATURES);
    agent.model.script([VISIT, DONE]);
    await user.say("Visit it");
    const first = await user.next("permission_request");
    await agent.leave();
    await agent.sql`
    update tool_calls set state = 'running', error_code = null, error_message = null, finished_at = null`;
    await agent.sql`update permissions set state = 'asked', replied_at = null`;
    await agent.sql`update turns set state = 'running', finished_at = null`;
    await agent.sql`delete from turn_blocks where block_type = 'tool_result'`;

    user.received.length = 0;
    await agent.join();
    await user.configure(FEATURES);
    if (idempotent) await user.send(answer((await user.next("permission_request")).id, "approve"));
    await user.next("assistant_sentence", ({ text: said }) => said === "Done.");

    expect(seen.begun).toBe(runs);
    expect(await agent.sql`select state from permissions where id = ${first.id}`).toEqual([{ state: "withdrawn" }]);
    expect(await agent.calls()).toMatchObject([{ error_code: idempotent ? null : "outcome_unknown" }]);
  },
);

test("an answer that arrives after another worker has claimed the session does not let the tool here continue", async () => {
  const outcomeSeen = Promise.withResolvers<string>();
  const visit = defineTool({
    description: "Visits.",
    input: z.object({ hosts: z.array(z.string()) }),
    run: async (_input, { ask }) => {
      const allowed = ask({ type: "network", pattern: "a.example", title: "Visit a.example" });
      const outcome = allowed.then(() => "allowed", String);
      outcomeSeen.resolve(await outcome);
    },
  });
  await using agent = await TestAgent.start({ tools: { visit } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([VISIT, DONE]);
  await user.say("Visit it");
  const { id } = await user.next("permission_request");
  await agent.sql`update sessions set epoch = epoch + 1`;

  await user.send(answer(id, "approve"));

  expect(await outcomeSeen.promise).not.toBe("allowed");
  expect(await storedPermissions(agent)).toMatchObject([{ state: "approved" }]);
  expect(await agent.sql`select state from tool_calls`).toEqual([{ state: "running" }]);
});
