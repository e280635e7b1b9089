import { expect, test } from "vitest";
import { agentSchema } from "../../../src/agent/agent-fields.ts";
import type { ModelEvent } from "../../../src/llm/model-event.ts";
import type { ModelCallReport } from "../../../src/llm/watch-model.ts";
import { startModelServer } from "../../../src/model-server/model-server.ts";
import { httpError, noHeaders, rawBlock, reply, text } from "../../../src/model-server/step.ts";
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

const GATEWAY_KEY = "gw-0123456789abcdef";
const OWN_KEY = "our-own-key-12345";

/** Serves an agent `own` and the default agent. `gateway` is another model server, which accepts only one key. */
async function withGateway({ accepts = GATEWAY_KEY, env = { GATEWAY_KEY } as NodeJS.ProcessEnv | false } = {}) {
  const gateway = await startModelServer({ apiKey: accepts });
  gateway.script(() => reply([text("Hello.")]));
  const reports: ModelCallReport[] = [];
  const at = (fields: object) => ({ name: "gateway-model", baseUrl: `${gateway.url}/v1/messages`, ...fields });
  const call = async (agent: string, model: unknown, own: object = {}) => {
    const config = configFileSchema.parse({ instructions: "Be brief.", model, modelIdleTimeoutMs: 1_000 });
    const definitions = new Map([["own", agentSchema.parse({ instructions: "Be brief.", model: own })]]);
    const onCall = (report: ModelCallReport) => void reports.push(report);
    const endpoint = { apiKey: OWN_KEY, baseUrl: server.url, onCall, ...(env && { env }) };
    const served = createSessionModel(config, endpoint, definitions).agents.get(agent);
    return served && typesOf(served.openStream(request, signal));
  };
  return { gateway, reports, at, call, [Symbol.asyncDispose]: () => gateway.close() };
}

test("a model at another address gets the key that it names", async () => {
  await using world = await withGateway();
  const { at, call } = world;
  server.script([httpError(401)]);

  expect(await call("default", [{}, at({ key: "GATEWAY_KEY" })])).toContain("message_stop");
});

test.each([
  ["the worker's own key", OWN_KEY, {}],
  ["the key in parley.config.ts, if an agent's file sets the address", GATEWAY_KEY, { key: "GATEWAY_KEY" }],
])("a model at another address does not get %s", async (_, accepts, base) => {
  await using world = await withGateway({ accepts });
  const { gateway, at, call } = world;

  await expect(call("own", base, at({}))).rejects.toMatchObject({ kind: "authentication" });
  expect(gateway.requests).toHaveLength(1);
});

test("an agent with one model keeps the config's other models, and an agent's list replaces them", async () => {
  await using world = await withGateway();
  const { gateway, at, call } = world;
  const config = [{}, at({ key: "GATEWAY_KEY" })];
  server.script(() => httpError(401));
  const namesAt = ({ requests }: typeof server) => requests.map(({ body }) => body["model"]);

  await call("own", config, { name: "small" });
  await expect(call("own", config, [{ name: "small" }, { name: "smaller" }])).rejects.toThrow("authentication");

  expect(namesAt(server)).toEqual(["small", "small", "smaller"]);
  expect(namesAt(gateway)).toEqual(["gateway-model"]);
});

test("reports name a model with its address and its key's name, and never contain the key", async () => {
  await using world = await withGateway();
  const { gateway, reports, at, call } = world;
  gateway.script(() => ({ ...httpError(401), message: `Incorrect API key provided: ${GATEWAY_KEY}` }));
  server.script([httpError(401)]);

  await expect(call("default", [{}, at({ key: "GATEWAY_KEY" })])).rejects.toThrow("authentication");

  const { host } = new URL(gateway.url);
  expect(reports).toMatchObject([
    { model: "claude-sonnet-5-5", refusal: { kind: "authentication" } },
    { model: `gateway-model (${host}, GATEWAY_KEY)`, refusal: { apiMessage: "Incorrect API key provided: …" } },
  ]);
});

test("a silent model is reported, although it is called only once", async () => {
  await using world = await withGateway();
  const { reports, at, call } = world;
  server.script([noHeaders()]);

  await call("default", [{}, at({ key: "GATEWAY_KEY" })]);

  expect(server.requests).toHaveLength(1);
  expect(reports).toMatchObject([{ refusal: { kind: "stalled" } }, { model: expect.stringContaining("gateway") }]);
});

test("in tests of agents, every model is called at the test's own endpoint", async () => {
  await using world = await withGateway({ env: false });
  const { gateway, at, call } = world;
  server.script([reply([text("Hello.")])]);

  await call("default", at({ key: "GATEWAY_KEY" }));

  expect(server.requests.map(({ body }) => body["model"])).toEqual(["gateway-model"]);
  expect(gateway.requests).toEqual([]);
});
