import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { toServerTool } from "../../../src/tool/server-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { EventServer } from "../../support/servers/event-server.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";
import { toolResults } from "../../support/model-view.ts";
import { requestWrite, FEATURES, WRITE } from "./request-write.ts";

const WAITING = "Waiting for the participant's permission. Its outcome will be reported when it arrives.";
const isDone = ({ text: said }: { text: string }) => said === "It is written.";

test.each(["queue", "interrupt"] as const)(
  "a new message (%s) is answered while a permission waits; the model is told so, and later the outcome",
  async (onNewMessage) => {
    const { agent, user, ran, permissionId } = await requestWrite(["Yes?", "It is written."], {
      policy: { onNewMessage },
    });

    expect(await user.answerTo(await user.say("Are you there?"))).toBe("Yes?");
    expect(toolResults(agent)).toEqual([{ content: WAITING, isError: false }]);
    expect(ran).toEqual([]);
    await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });
    await user.next("assistant_sentence", isDone);

    expect(ran).toEqual(["notes/a.md"]);
    expect(toolResults(agent)).toEqual([{ content: "wrote notes/a.md", isError: false }]);
    expect(agent.model.rejections).toEqual([]);
  },
);

test("a rejection after the person has continued talking is reported as well", async () => {
  const { agent, user, ran, permissionId } = await requestWrite(["Yes?", "It is written."]);
  await user.answerTo(await user.say("Are you there?"));
  await user.send({ type: "permission_response", body: { permissionId, response: "reject" } });
  await user.next("assistant_sentence", isDone);

  expect(toolResults(agent)).toEqual([{ content: "Not run: the participant rejected it", isError: true }]);
  expect(ran).toEqual([]);
});

test("a running sibling makes a new message wait until it has ended, and its record does not wait for the answer", async () => {
  const { tool } = guardedTool();
  const opened = Promise.withResolvers<string>();
  const look = defineTool({ description: "Looks.", input: z.object({}), run: () => opened.promise });
  await using agent = await TestAgent.start({ tools: { write: tool, look } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([
    reply([toolUse("write", { path: "notes/a.md" }), toolUse("look")]),
    reply([text("Yes?")]),
    reply([text("It is written.")]),
  ]);
  await user.say("Write and look");
  const { id: permissionId } = await user.next("permission_request");
  const next = await user.say("Are you there?");
  await user.next("acknowledgement", (body) => body.acknowledgedStanzaId === 3);
  expect(user.all("start_answer")).toHaveLength(1);
  opened.resolve("seen");

  expect(await user.answerTo(next)).toBe("Yes?");
  expect(toolResults(agent)).toEqual([
    { content: WAITING, isError: false },
    { content: "seen", isError: false },
  ]);
  const states = async () => Object.fromEntries((await agent.calls()).map(({ name, state }) => [name, state]));
  expect(await states()).toEqual({ look: "success", write: "pending" });
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  await user.next("assistant_sentence", isDone);
});

test("a participant who leaves and comes back while a permission waits is asked the same again", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user", FEATURES);
  await agent.client("other");
  agent.model.script([WRITE, reply([text("Done.")])]);
  await user.say("Write it");
  const request = await user.next("permission_request");
  await user.leave();

  await using back = await Participant.join(agent.roomName, "user");
  await back.configure(FEATURES);
  const again = await back.next("permission_request");
  expect({ ...again, metadataJson: "" }).toEqual({ ...request, metadataJson: "" });
  const { expiresAt, leftMs } = JSON.parse(again.metadataJson) as { expiresAt: number; leftMs: number };
  expect(expiresAt).toBe((JSON.parse(request.metadataJson) as { expiresAt: number }).expiresAt);
  expect(leftMs).toBeLessThan(120_000);
  await back.send({ type: "permission_response", body: { permissionId: again.id, response: "approve" } });
  await back.next("assistant_sentence", ({ text: said }) => said === "Done.");
  expect(ran).toEqual(["notes/a.md"]);
});

test("a worker that takes over keeps waiting for the same request, and runs the call once it is allowed", async () => {
  const { agent, user, ran, request } = await requestWrite(["It is written."]);
  await agent.leave();
  expect(await agent.calls()).toMatchObject([{ state: "pending" }]);
  user.received.length = 0;

  await agent.join();
  await user.configure(FEATURES);
  const again = await user.next("permission_request");
  expect(again.id).toBe(request.id);
  await user.send({ type: "permission_response", body: { permissionId: again.id, response: "approve" } });
  await user.next("assistant_sentence", isDone);

  expect(ran).toEqual(["notes/a.md"]);
  expect(toolResults(agent)).toEqual([{ content: "wrote notes/a.md", isError: false }]);
  expect(agent.model.rejections).toEqual([]);
});

test("the next worker acts on an answer that was given while no worker was there", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user", FEATURES);
  agent.model.script([WRITE, reply([text("It is written.")])]);
  await user.say("Write it");
  await user.next("permission_request");
  await agent.leave();
  await agent.sql`update permissions set state = 'approved', replied_by = 'user', replied_via = 'http'`;
  user.received.length = 0;
  await agent.join();
  await user.configure(FEATURES);

  await user.next("assistant_sentence", isDone);
  expect(ran).toEqual(["notes/a.md"]);
  expect(user.all("permission_request")).toEqual([]);
});

test("a request that outlived its turn also outlives the worker", async () => {
  const { agent, user, ran, request } = await requestWrite(["Yes?", "It is written."]);
  await user.answerTo(await user.say("Are you there?"));
  await agent.leave();
  user.received.length = 0;
  await agent.join();
  await user.configure(FEATURES);
  const again = await user.next("permission_request");
  expect(again.id).toBe(request.id);
  await user.send({ type: "permission_response", body: { permissionId: again.id, response: "approve" } });

  await user.next("assistant_sentence", isDone);
  expect(ran).toEqual(["notes/a.md"]);
  expect(agent.model.rejections).toEqual([]);
});

test("a client's tool that waits after its turn and its worker waits for its client to announce it again", async () => {
  const scan = { name: "scan", description: "Scans.", inputSchema: { type: "object" } };
  const rules = [{ type: "tool", pattern: "scan", action: "ask" as const }];
  const policy = { permission: { rules, byVoice: false, waitMs: 60_000 } };
  await using agent = await TestAgent.start({ policy });
  const user = await agent.client("user", { ...FEATURES, tools: [scan] });
  agent.model.script([reply([toolUse("scan")]), reply([text("Yes?")]), reply([text("Scanned.")])]);
  await user.say("Scan it");
  const asked = await user.next("permission_request");
  await user.answerTo(await user.say("Are you there?"));
  await agent.leave();
  user.received.length = 0;
  await agent.join();
  await user.next("configuration");
  // Waits for longer than a resumed turn would wait for the client.
  await sleep(1_500);
  await user.configure({ ...FEATURES, tools: [scan] });
  const again = await user.next("permission_request");
  expect(again.id).toBe(asked.id);
  await user.send({ type: "permission_response", body: { permissionId: again.id, response: "approve" } });
  const { id } = await user.next("tool_use_request");
  expect(id).toBe(asked.callId);
  await user.answer(id, { success: true, result: { pages: 2 } });

  await user.next("assistant_sentence", ({ text: said }) => said === "Scanned.");
  expect(await agent.calls()).toMatchObject([{ name: "scan", state: "success" }]);
});

test("a request whose tool is gone when a worker takes over is withdrawn, and accepts no answer", async () => {
  const { tool } = guardedTool();
  const liveTools = new Map([["write", toServerTool("write", tool, undefined)]]);
  await using agent = await TestAgent.start({ liveTools });
  const user = await agent.client("user", FEATURES);
  agent.model.script([WRITE, reply([text("It is not there.")])]);
  await user.say("Write it");
  const { id: permissionId, sessionId: id } = await user.next("permission_request");
  await using server = await EventServer.start({ databaseUrl: agent.databaseUrl });
  await using reader = await server.open({ id, room: agent.roomName }, { identity: "user" });
  await agent.leave();
  liveTools.clear();
  await agent.join();
  await user.configure(FEATURES);
  await user.next("assistant_sentence", ({ text: said }) => said === "It is not there.");
  const { data } = await reader.next(({ event }) => event === "permission.replied");
  expect(data).toMatchObject({ permissionId, state: "withdrawn" });
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "unknown_tool" }]);

  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  expect(await user.next("error_message")).toMatchObject({ code: 202, originatingId: permissionId });
});
