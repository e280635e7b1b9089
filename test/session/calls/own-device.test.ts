import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { offeredTools, toolResults } from "../../support/model-view.ts";
import { announced, scriptOf } from "../../support/client-tool.ts";

const shared = (name: string) => announced(name, { scope: "room" });

test("in another's turn only tools announced for the room are offered and called, and the owner receives who asks", async () => {
  await using agent = await TestAgent.start();
  const phone = await agent.client("phone", { tools: [announced("scan"), shared("print")] });
  const laptop = await agent.client("laptop", { tools: [] });
  agent.model.script([reply([toolUse("scan"), toolUse("print")]), reply([text("Done.")])]);
  const messageId = await laptop.say("Scan and print");

  const request = await phone.next("tool_use_request", ({ toolName }) => toolName === "print");
  expect(request).toMatchObject({ execution: "client", participant: "laptop" });
  await phone.answer(request.id, { success: true, result: { pages: 1 } });
  await laptop.answerTo(messageId);

  expect(offeredTools(agent, 0)).toEqual(["print"]);
  expect(toolResults(agent)).toEqual([
    { content: "Tool 'scan' not found", isError: true },
    { content: '{"pages":1}', isError: false },
  ]);
  expect(phone.all("tool_use_request").filter(({ execution }) => execution === "client")).toHaveLength(1);
  expect(laptop.all("tool_use_request").filter(({ execution }) => execution === "client")).toEqual([]);
});

test("of two tools with one name the own device's is used, without saying who asks", async () => {
  await using agent = await TestAgent.start();
  const phone = await agent.client("phone", { tools: [shared("print")] });
  const laptop = await agent.client("laptop", { tools: [announced("print")] });
  agent.model.script(scriptOf("print"));
  const messageId = await laptop.say("Print");

  const request = await laptop.next("tool_use_request");
  expect(request.participant).toBeUndefined();
  await laptop.answer(request.id, { success: true });
  await laptop.answerTo(messageId);
  expect(phone.all("tool_use_request")).toEqual([]);
});

test("a participant who has not announced tools is not asked in another's turn", async () => {
  const both = defineTool({
    description: "B.",
    input: z.object({}),
    execution: "either",
    run: () => "from the server",
  });
  const read = defineTool({ description: "R.", input: z.object({}), execution: "client" });
  await using agent = await TestAgent.start({ tools: { both, read } });
  const phone = await agent.client("phone");
  const laptop = await agent.client("laptop", { tools: [] });
  agent.model.script([reply([toolUse("both"), toolUse("read")]), reply([text("Done.")])]);
  await laptop.answerTo(await laptop.say("Go"));

  expect(offeredTools(agent, 0)).toEqual(["both"]);
  expect(toolResults(agent)).toMatchObject([{ content: "from the server" }, { isError: true }]);
  expect(phone.all("tool_use_request").map(({ execution }) => execution)).not.toContain("client");
});

const FEATURES = { features: ["permissions"] };
const rules = [{ type: "tool", pattern: "print", action: "ask" as const }];
const policy = { permission: { rules, byVoice: false, waitMs: 60_000 } };

test("the owner of another's tool is asked for permission, and sees who asks; nobody else's answer counts", async () => {
  await using agent = await TestAgent.start({ policy });
  const phone = await agent.client("phone", { ...FEATURES, tools: [shared("print")] });
  const laptop = await agent.client("laptop", { ...FEATURES, tools: [] });
  agent.model.script(scriptOf("print"));
  const messageId = await laptop.say("Print");

  const asked = await phone.next("permission_request");
  expect(JSON.parse(asked.metadataJson)).toMatchObject({ toolName: "print", participant: "laptop" });
  await laptop.send({ type: "permission_response", body: { permissionId: asked.id, response: "approve" } });
  expect(await laptop.next("error_message")).toMatchObject({ code: 401, originatingId: asked.id });
  await phone.send({ type: "permission_response", body: { permissionId: asked.id, response: "always" } });
  const { id } = await phone.next("tool_use_request");
  await phone.answer(id, { success: true });
  await laptop.answerTo(messageId);

  expect(laptop.all("permission_request")).toEqual([]);
});

test("a grant from an owner in another's turn applies to that call, and to nobody else's", async () => {
  await using agent = await TestAgent.start({ policy });
  const phone = await agent.client("phone", { ...FEATURES, tools: [shared("print")] });
  const laptop = await agent.client("laptop", { ...FEATURES, tools: [] });
  const eve = await agent.client("eve", { ...FEATURES, tools: [] });
  agent.model.script([reply([toolUse("print")]), reply([text("Done.")]), reply([toolUse("print")])]);
  const messageId = await laptop.say("Print");
  const first = await phone.next("permission_request");

  await phone.send({ type: "permission_response", body: { permissionId: first.id, response: "always" } });
  const { id } = await phone.next("tool_use_request");
  await phone.answer(id, { success: true });
  await laptop.answerTo(messageId);
  await eve.say("Print");

  await phone.next("permission_request", ({ metadataJson }) => metadataJson.includes('"participant":"eve"'));
  expect(await agent.sql`select from permission_grants`).toHaveLength(0);
});

test("an owner without dialogs is asked in words by name, and nobody else's yes counts", async () => {
  await using agent = await TestAgent.start({ policy });
  const phone = await agent.client("phone", { tools: [shared("print")] });
  const laptop = await agent.client("laptop", { tools: [] });
  agent.model.script([reply([toolUse("print")]), reply([text("It waits.")]), reply([text("Printed.")])]);
  await laptop.say("Print");

  const question = await phone.next("assistant_sentence", ({ text: said }) => said.endsWith("Yes or no?"));
  expect(question.text).toMatch(/^phone: .*print/);
  expect(await laptop.answerTo(await laptop.say("Yes"))).toBe("It waits.");
  expect(phone.all("tool_use_request").map(({ execution }) => execution)).not.toContain("client");
  await phone.say("Yes");
  const { id } = await phone.next("tool_use_request", ({ execution }) => execution === "client");
  await phone.answer(id, { success: true });

  await laptop.next("assistant_sentence", ({ text: said }) => said === "Printed.");
});

test("a call that an owner has allowed runs only on that owner's device", async () => {
  await using agent = await TestAgent.start({ policy });
  const phone = await agent.client("phone", { ...FEATURES, tools: [shared("print")] });
  const tablet = await agent.client("tablet", { ...FEATURES, tools: [shared("print")] });
  const laptop = await agent.client("laptop", { tools: [] });
  agent.model.script(scriptOf("print"));
  const messageId = await laptop.say("Print");
  const asked = await phone.next("permission_request");
  await phone.configure({ ...FEATURES, tools: [] });
  await phone.send({ type: "permission_response", body: { permissionId: asked.id, response: "approve" } });
  await laptop.answerTo(messageId);

  expect(toolResults(agent)).toEqual([
    { content: "Tool 'print' is not available on any connected device", isError: true },
  ]);
  expect(tablet.all("tool_use_request").map(({ execution }) => execution)).not.toContain("client");
});

test.each(["while its turn waits", "after its turn"])(
  "a worker that takes over %s asks the owner of another's tool for permission again, and nobody else",
  async (when) => {
    await using agent = await TestAgent.start({ policy });
    const configuration = { ...FEATURES, tools: [shared("print")] };
    const phone = await agent.client("phone", configuration);
    const laptop = await agent.client("laptop", { ...FEATURES, tools: [] });
    const isAfter = when === "after its turn";
    agent.model.script([
      reply([toolUse("print")]),
      ...(isAfter ? [reply([text("Yes?")])] : []),
      reply([text("Printed.")]),
    ]);
    await laptop.say("Print");
    const asked = await phone.next("permission_request");
    if (isAfter) await laptop.answerTo(await laptop.say("Are you there?"));
    await agent.leave();
    phone.received.length = 0;
    laptop.received.length = 0;
    await agent.join();
    await laptop.configure({ ...FEATURES, tools: [announced("print")] });
    await sleep(300);
    await phone.configure(configuration);

    const again = await phone.next("permission_request");
    expect(again.id).toBe(asked.id);
    await phone.send({ type: "permission_response", body: { permissionId: again.id, response: "approve" } });
    const request = await phone.next("tool_use_request");
    expect(request).toMatchObject({ id: asked.callId, participant: "laptop" });
    await phone.answer(request.id, { success: true });
    await laptop.next("assistant_sentence", ({ text: said }) => said === "Printed.");
    expect(laptop.all("tool_use_request")).toEqual([]);
  },
);

test("a slow device delays its own participant's turn, and others' turns for a few seconds; its outcome follows", async () => {
  await using agent = await TestAgent.start();
  const eve = await agent.client("eve", { tools: [announced("scan", { timeoutMs: 60_000 })] });
  const ann = await agent.client("ann", { tools: [] });
  agent.model.script([reply([toolUse("scan")]), reply([text("Hello Ann.")]), reply([text("The scan is done.")])]);
  await eve.say("Scan");
  const { id } = await eve.next("tool_use_request", ({ execution }) => execution === "client");

  const asked = performance.now();
  expect(await ann.answerTo(await ann.say("Hello"))).toBe("Hello Ann.");
  expect(performance.now() - asked).toBeLessThan(8_000);

  await eve.answer(id, { success: true, result: { pages: 1 } });
  await eve.next("assistant_sentence", (body) => body.text === "The scan is done.");
});

const either = defineTool({ description: "E.", input: z.object({}), execution: "either", run: () => "the server's" });

test.each(["client", "either"] as const)(
  "a tool that the worker declares as %s is not taken over by another participant that announces its name",
  async (execution) => {
    const read = defineTool({ description: "R.", input: z.object({}), execution: "client" });
    await using agent = await TestAgent.start({ tools: { read: execution === "client" ? read : either } });
    const eve = await agent.client("eve", { tools: [shared("read")] });
    expect(await eve.next("error_message")).toMatchObject({ code: 101, message: expect.stringContaining('"read"') });
    const ann = await agent.client("ann", { tools: [] });
    agent.model.script([reply([toolUse("read")]), reply([text("Done.")])]);

    await ann.answerTo(await ann.say("Read"));

    expect(eve.all("tool_use_request").filter(({ execution: how }) => how === "client")).toEqual([]);
    expect(toolResults(agent)).toMatchObject([
      execution === "client" ? { isError: true } : { content: "the server's" },
    ]);
  },
);

test("a tool that the worker declares for the room runs on the device of whoever announced it for the room", async () => {
  const read = defineTool({ description: "R.", input: z.object({}), execution: "client", scope: "room" });
  await using agent = await TestAgent.start({ tools: { read } });
  const phone = await agent.client("phone", { tools: [shared("read")] });
  const ann = await agent.client("ann", { tools: [] });
  agent.model.script([reply([toolUse("read")]), reply([text("Done.")])]);
  const asked = await ann.say("Read");

  const { id } = await phone.next("tool_use_request", ({ execution }) => execution === "client");
  await phone.answer(id, { success: true });

  expect(await ann.answerTo(asked)).toBe("Done.");
});
