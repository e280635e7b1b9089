import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/llm/model-event.ts";
import { startModelServer } from "../../../src/testing/model-server/model-server.ts";
import { reply, text } from "../../../src/testing/model-server/step.ts";
import { configFileSchema } from "../../../src/worker/config-file.ts";
import { createSessionModel } from "../../../src/worker/job/session-model.ts";
import { forEachTest } from "../../support/lifetimes.ts";

const server = forEachTest(startModelServer);
const { signal } = new AbortController();
const request = {
  history: [{ role: "user" as const, blocks: [{ blockType: "text", textContent: "Hi", content: null }] }],
  isCut: false,
  toolChoice: "auto" as const,
  tools: [],
  onRefusedTool: () => {},
  participant: "ann",
};

const modelWith = (context: object) =>
  createSessionModel(configFileSchema.parse({ instructions: "Be brief.", context }), {
    apiKey: "test",
    baseUrl: server.url,
  });

async function typesOf(stream: AsyncIterable<ModelEvent>): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  return types;
}

test("context editing that the configuration names goes with the talk's calls and counts, and not with notes", async () => {
  const edits = [{ type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: 2 } }];
  const { standardAgent, notesModel } = modelWith({ edits, summaryModel: "small", inlineTools: true });
  server.script([reply([text("Hello.")]), reply([text("<notes>They met.</notes>")])]);

  expect(await typesOf(standardAgent.openStream(request, signal))).toContain("message_stop");
  expect(await standardAgent.countTokens?.(request, signal)).toBeGreaterThan(0);
  if (notesModel) await typesOf(notesModel.ask("Write.", "ann", signal));

  expect(server.requests.map(({ body }) => body["context_management"])).toEqual([{ edits }, undefined]);
  expect(server.counted.map((body) => body["context_management"])).toEqual([{ edits }]);
  expect(server.rejections).toEqual([]);
});

test("without it, nothing of that is sent", async () => {
  server.script([reply([text("Hello.")])]);
  await typesOf(modelWith({}).standardAgent.openStream(request, signal));

  expect(server.requests[0]?.body).not.toHaveProperty("context_management");
});

test("an edit that the worker does not know is refused at the start", () => {
  expect(() => modelWith({ edits: [{ type: "compact_20260112" }] })).toThrow("clear_tool_uses_20250919");
});
