import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/llm/model-event.ts";
import { startModelServer } from "../../../src/model-server/model-server.ts";
import { rawBlock, reply, text } from "../../../src/model-server/step.ts";
import { configFileSchema } from "../../../src/worker/config-file.ts";
import { createSessionModel } from "../../../src/worker/job/session-model.ts";
import { forEachTest } from "../../support/lifetimes.ts";

const server = forEachTest(startModelServer);
const { signal } = new AbortController();
const request = {
  history: [{ role: "user" as const, blocks: [{ blockType: "text", textContent: "Hi", content: null }] }],
  isCompacted: false,
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

test("the configured context editing is sent with the session's calls and counts, and not with notes", async () => {
  const edits = [{ type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: 2 } }];
  const { defaultAgent, summaryModel } = modelWith({ edits, summaryModel: "small", inlineTools: true });
  server.script([reply([text("Hello.")]), reply([text("<notes>They met.</notes>")])]);

  expect(await typesOf(defaultAgent.openStream(request, signal))).toContain("message_stop");
  expect(await defaultAgent.countTokens?.(request, signal)).toBeGreaterThan(0);
  if (summaryModel) await typesOf(summaryModel.ask("Write.", "ann", signal));

  expect(server.requests.map(({ body }) => body["context_management"])).toEqual([{ edits }, undefined]);
  expect(server.counted.map((body) => body["context_management"])).toEqual([{ edits }]);
  expect(server.rejections).toEqual([]);
});

test("without context editing, nothing about it is sent", async () => {
  server.script([reply([text("Hello.")])]);
  await typesOf(modelWith({}).defaultAgent.openStream(request, signal));

  expect(server.requests[0]?.body).not.toHaveProperty("context_management");
});

test("the API's own summaries have their own beta, and are sent back only where they are enabled", async () => {
  const summary = { type: "compaction", content: "They met.", encrypted_content: null };
  const compaction = { blockType: "compaction", textContent: null, content: summary };
  const answer = {
    role: "assistant" as const,
    blocks: [compaction, { ...compaction, blockType: "text", textContent: "Hi", content: null }],
  };
  const history = [...request.history, answer, ...request.history];
  const steps = [reply([rawBlock({ ...summary })]), reply([text("Hello.")]), reply([text("Hello.")])];
  server.script(steps);
  for (const edits of [[{ type: "compact_20260112" }], [{ type: "compact_20260112" }], []])
    await typesOf(
      modelWith({ edits }).defaultAgent.openStream(
        { ...request, history: server.requests.length === 0 ? request.history : history },
        signal,
      ),
    );

  expect(server.rejections).toEqual([]);
  expect(server.requests.map(({ headers }) => headers["anthropic-beta"])).toEqual([
    "compact-2026-01-12",
    "compact-2026-01-12",
    undefined,
  ]);
  expect(server.requests.map(({ body }) => JSON.stringify(body["messages"]).includes("They met."))).toEqual([
    false,
    true,
    false,
  ]);
});

test.each([
  [
    "an edit that the worker does not know",
    { edits: [{ type: "clear_thinking_20251015" }] },
    "clear_tool_uses_20250919",
  ],
  [
    "a pause after a summary",
    { edits: [{ type: "compact_20260112", pause_after_compaction: true }] },
    "pause_after_compaction",
  ],
  [
    "a summary beside tools that are told in the talk",
    { edits: [{ type: "compact_20260112" }], inlineTools: true },
    "inlineTools",
  ],
])("%s is refused at startup", (_, context, named) => {
  expect(() => modelWith(context)).toThrow(named);
});

test("summaries together with retention are refused at startup", () => {
  const config = { instructions: "Be brief.", context: { edits: [{ type: "compact_20260112" }] } };
  expect(() => configFileSchema.parse({ ...config, retention: { days: 30 } })).toThrow("retention");
});
