import { expect, test } from "vitest";
import { z } from "zod";
import { toolResult as deviceResult } from "../../../src/client/index.ts";
import { toolResult } from "../../../src/index.ts";
import { eraseParticipant } from "../../../src/store/removal/erase-participant.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { openSdk, toolOf } from "../../client/open-sdk.ts";
import { TestAgent } from "../../support/agent.ts";
import { scriptOf } from "../../support/client-tool.ts";
import { allResults, lastContent, messagesTo } from "../../support/model-view.ts";
import { PNG, pngOfBytes } from "../../support/pictures.ts";

const BASE64 = Buffer.from(PNG).toString("base64");
const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: BASE64 } };

const plan = defineTool({
  description: "Shows a plan.",
  input: z.object({}),
  readOnly: true,
  run: () =>
    toolResult({
      content: [
        { type: "text", text: "The ground floor." },
        { type: "image", source: { data: PNG } },
      ],
      display: { url: "/plans/17" },
    }),
});

test("a server tool's picture is shown to the model, in later turns and by the next worker too", async () => {
  await using agent = await TestAgent.start({ tools: { plan } });
  const { parley } = await openSdk(agent, "ana");
  agent.model.script([...scriptOf("plan"), reply([text("Two rooms.")]), reply([text("A door.")])]);

  await parley.ask("Show me the plan");
  const shown = [{ type: "text", text: "The ground floor." }, picture];
  expect(lastContent(agent)).toEqual(shown);

  await parley.ask("How many rooms?");
  expect(allResults(agent)).toMatchObject([{ content: shown }]);

  await agent.leave();
  await agent.join();
  await parley.whenConnected(10_000);
  await parley.ask("And between them?");
  expect(allResults(agent)).toMatchObject([{ content: shown }]);
  expect(agent.model.rejections).toEqual([]);
});

test("a picture's bytes are in no block and no message, but in a separate table", async () => {
  await using agent = await TestAgent.start({ tools: { plan } });
  const participant = await agent.client("ana", { features: ["blocks", "tool_call_state"] });
  agent.model.script(scriptOf("plan"));

  await participant.answerTo(await participant.say("Show me the plan"));

  const [media] = await agent.sql`select id, media_type, bytes, participant_identity from media`;
  expect(media).toMatchObject({ media_type: "image/png", bytes: Buffer.from(PNG), participant_identity: null });
  const records = JSON.stringify([await agent.blocks(), await agent.sql`select * from tool_calls`]);
  expect(records).toContain(media?.["id"]);
  expect(records).not.toContain(BASE64);
  expect(JSON.stringify(participant.received)).not.toContain(BASE64);
});

test("a tool's display reaches every client with the result and the state, and never reaches the model", async () => {
  await using agent = await TestAgent.start({ tools: { plan } });
  const participant = await agent.client("ana", { features: ["tool_call_state"] });
  agent.model.script(scriptOf("plan"));

  await participant.answerTo(await participant.say("Show me the plan"));

  expect(participant.all("tool_use_result")[0]).toMatchObject({
    success: true,
    result: { value: "The ground floor.\n[image/png, 1 kB]" },
    display: { url: "/plans/17" },
  });
  const state = await participant.next("tool_call_state", ({ status }) => status === "success");
  expect(JSON.parse(state.metadataJson)).toMatchObject({ display: { url: "/plans/17" } });
  expect(JSON.stringify(messagesTo(agent))).not.toContain("/plans/17");
  expect(await agent.sql`select display from tool_calls`).toEqual([{ display: { url: "/plans/17" } }]);
});

test("a device shows the model a picture, which is erased with the device's owner", async () => {
  await using agent = await TestAgent.start();
  const photo = deviceResult({ result: { width: 1 }, content: [{ type: "image", source: { data: PNG } }] });
  const { parley } = await openSdk(agent, "ana", [toolOf(() => photo)]);
  agent.model.script(scriptOf("scan"));

  const { toolResults } = await parley.ask("Take a photo");

  expect(lastContent(agent)).toEqual([{ type: "text", text: '{"width":1}' }, picture]);
  expect(toolResults).toMatchObject([{ success: true, result: { width: 1 } }]);
  expect(await agent.sql`select participant_identity from media`).toEqual([{ participant_identity: "ana" }]);
  await agent.leave();
  await eraseParticipant(agent.sql, { identity: "ana" });
  expect(await agent.sql`select from media`).toHaveLength(0);
});

test("a picture from a device that is too large is an error for the model, with the maximum size", async () => {
  await using agent = await TestAgent.start();
  const photo = deviceResult({ content: [{ type: "image", source: { data: pngOfBytes(3_200_000) } }] });
  const { parley } = await openSdk(agent, "ana", [toolOf(() => photo)]);
  agent.model.script(scriptOf("scan"));

  await parley.ask("Take a photo");

  expect(lastContent(agent)).toContain("content[0].source: expected at most 3145728 bytes, got 3200000");
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "result_too_large" }]);
  expect(agent.model.rejections).toEqual([]);
});
