import { expect, test } from "vitest";
import { z } from "zod";
import { toolResult } from "../../src/protocol/tool-result.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { PNG } from "../support/pictures.ts";
import { toServerTool } from "../../src/tool/server-tool.ts";
import { guardedTool } from "../support/guarded-tool.ts";
import { reply, serverToolResult, serverToolUse, text, thinking, toolUse } from "../../src/model-server/step.ts";
import { HttpToolServer } from "../tool/mcp/http-server.ts";
import { McpBench } from "../tool/mcp/mcp-bench.ts";
import { TelemetryAgent } from "./telemetry-agent.ts";

/** Texts from people, the model and tools. By default, no line of telemetry may contain any of these. */
const MARKS = {
  message: "Mk1Message",
  text: "Mk2Text",
  argument: "Mk3Argument",
  result: "Mk4Result",
  error: "Mk5Error",
  log: "Mk6Log",
  query: "Mk7Query",
  found: "Mk8Found",
  clientDescription: "Mk9Description",
  clientCode: "Mk10Code",
  clientError: "Mk11ClientError",
  refusedArgument: "Mk12Refused",
  thinking: "Mk13Thinking",
  mcpArgument: "Mk14McpArgument",
  mcpError: "No such shelf",
  permission: "Mk15Path",
  refusal: "Mk16Refusal",
  badTrace: "Mk17Trace",
} as const;

const say = defineTool({
  description: "Says.",
  input: z.object({ what: z.string() }),
  run: ({ what }, { log }) => {
    log(MARKS.log);
    return { answer: MARKS.result, what };
  },
});
const fail = defineTool({
  description: "Fails.",
  input: z.object({}),
  run: () => {
    throw new Error(MARKS.error);
  },
});

/** A client tool's name. Spans may contain it, because the names of tools and the ids of their uses are not content. */
const INVENTED_TOOL = "Mk18_tool";

/** Plays a turn in which everybody says something, and exports all of its telemetry. */
async function talkOfMarks(mode: string): Promise<TelemetryAgent> {
  await using shop = await HttpToolServer.start();
  await using bench = new McpBench({ shop: { url: shop.url } });
  await bench.until("shop_echo", "shop_throw");
  const own = { say, fail, write: guardedTool().tool };
  const talk = await TelemetryAgent.start({
    env: { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: mode },
    liveTools: new Map([
      ...bench.servers.tools,
      ...Object.entries(own).map(([name, tool]) => [name, toServerTool(name, tool, undefined)] as const),
    ]),
    serverTools: [{ type: "web_search_20260318", name: "web_search" }],
  });
  const { agent } = talk;
  const scan = { name: "scan", description: MARKS.clientDescription, inputSchema: { type: "object" } };
  const tools = [scan, { ...scan, name: INVENTED_TOOL }];
  const user = await agent.client("user", { tools, features: ["permissions"] });
  const found = [
    { type: "web_search_result", url: "https://e.com", title: MARKS.found, encrypted_content: "a", page_age: null },
  ];
  agent.model.script([
    reply([
      thinking(MARKS.thinking),
      text(MARKS.text),
      serverToolUse("web_search", { query: MARKS.query }, "srvtoolu_1"),
      serverToolResult("web_search_tool_result", "srvtoolu_1", found),
      toolUse("say", { what: MARKS.argument }),
      toolUse("fail"),
      toolUse("scan"),
      toolUse("say", { what: 1, why: MARKS.refusedArgument }),
      toolUse("shop_echo", { text: MARKS.mcpArgument }),
      toolUse("shop_throw"),
      toolUse("write", { path: MARKS.permission }),
      toolUse(INVENTED_TOOL),
    ]),
    reply([text("Done.")]),
  ]);
  const id = "message-1";
  const meta = { traceparent: MARKS.badTrace, tracestate: MARKS.badTrace };
  await user.send({ type: "user_message", body: { id, content: MARKS.message } }, { meta });
  const request = await user.next("tool_use_request", ({ toolName }) => toolName === "scan");
  const errorCode = MARKS.clientCode;
  await user.answer(request.id, { success: false, errorCode, errorMessage: MARKS.clientError });
  const invented = await user.next("tool_use_request", ({ toolName }) => toolName === INVENTED_TOOL);
  await user.answer(invented.id, { success: true, result: { found: MARKS.result } });
  const { id: permissionId } = await user.next("permission_request");
  await user.send({ type: "permission_response", body: { permissionId, response: "reject", message: MARKS.refusal } });
  await user.sendBytes(new TextEncoder().encode(MARKS.message));
  await user.answerTo(id);
  await talk.end();
  return talk;
}

const marksIn = (content: string) => Object.values(MARKS).filter((mark) => content.includes(mark));

test("with capture off no content is in spans, metrics, events or logs", async () => {
  await using talk = await talkOfMarks("NO_CONTENT");

  expect(talk.receiver.spans.length).toBeGreaterThan(6);
  expect(talk.receiver.metrics.length).toBeGreaterThan(8);
  expect(talk.receiver.logs.length).toBeGreaterThan(4);
  expect(marksIn(talk.receiver.text)).toEqual([]);
  expect(marksIn(talk.lines.join("\n"))).toEqual([]);
  expect(talk.receiver.named(`execute_tool ${INVENTED_TOOL}`)).toHaveLength(1);
  expect(JSON.stringify(talk.receiver.metrics)).not.toContain(INVENTED_TOOL);
});

test("with SPAN_ONLY content is on the spans as the conventions say, and nowhere else", async () => {
  await using talk = await talkOfMarks("SPAN_ONLY");
  const { receiver, lines } = talk;

  const [chat] = receiver.named("chat claude-test");
  const input = JSON.parse(String(chat?.attributes["gen_ai.input.messages"])) as unknown;
  const output = JSON.parse(String(chat?.attributes["gen_ai.output.messages"])) as { parts: { type: string }[] }[];
  expect(input).toEqual([{ role: "user", parts: [{ type: "text", content: MARKS.message }] }]);
  expect(output[0]).toMatchObject({ role: "assistant", finish_reason: "tool_call" });
  expect(output[0]?.parts.map(({ type }) => type)).toEqual([
    "reasoning",
    "text",
    "server_tool_call",
    "server_tool_call_response",
    ...Array.from({ length: 8 }, () => "tool_call"),
  ]);
  expect(String(chat?.attributes["gen_ai.system_instructions"])).toContain("Be brief.");
  expect(String(chat?.attributes["gen_ai.tool.definitions"])).toContain("web_search_20260318");
  const [call] = receiver.named("execute_tool say").filter(({ status }) => status === 0);
  expect(call?.attributes["gen_ai.tool.call.arguments"]).toBe(JSON.stringify({ what: MARKS.argument }));
  expect(String(call?.attributes["gen_ai.tool.call.result"])).toContain(MARKS.result);
  expect(marksIn(JSON.stringify([receiver.metrics, receiver.logs]))).toEqual([]);
  expect(marksIn(lines.join("\n"))).toEqual([]);
});

test("with EVENT_ONLY content is in each model call's event, structured, and on no span", async () => {
  await using talk = await talkOfMarks("EVENT_ONLY");
  const { receiver } = talk;

  const events = receiver.logs.filter(({ eventName }) => eventName === "gen_ai.client.inference.operation.details");
  const chats = receiver.named("chat claude-test");
  expect(events.map(({ spanId }) => spanId)).toEqual(chats.map(({ spanId }) => spanId));
  expect(events[0]?.attributes["gen_ai.input.messages"]).toEqual([
    { role: "user", parts: [{ type: "text", content: MARKS.message }] },
  ]);
  expect(marksIn(JSON.stringify(receiver.spans))).toEqual([]);
});

test("with SPAN_AND_EVENT content is in both", async () => {
  await using talk = await talkOfMarks("SPAN_AND_EVENT");
  const { receiver, lines } = talk;

  const said = [MARKS.message, MARKS.text, MARKS.thinking, MARKS.argument, MARKS.query, MARKS.found];
  expect(marksIn(JSON.stringify(receiver.spans))).toEqual(expect.arrayContaining(said));
  expect(marksIn(JSON.stringify(receiver.logs))).toEqual(expect.arrayContaining(said));
  expect(marksIn(JSON.stringify(receiver.metrics))).toEqual([]);
  expect(marksIn(lines.join("\n"))).toEqual([]);
});

test("log lines contain their turn's span, and are exported with it", async () => {
  await using talk = await talkOfMarks("NO_CONTENT");
  const { receiver, lines } = talk;

  const [turn] = receiver.named("invoke_agent parley");
  const line = lines.map((each) => JSON.parse(each) as Record<string, unknown>).find(({ msg }) => msg === "turn ended");
  expect(line).toMatchObject({ trace_id: turn?.traceId, span_id: turn?.spanId });
  expect(receiver.logs.find(({ body }) => body === "turn ended")).toMatchObject({
    traceId: turn?.traceId,
    spanId: turn?.spanId,
    severity: 9,
  });
  const call = receiver.named("execute_tool fail")[0];
  expect(receiver.logs.find(({ attributes }) => attributes["toolName"] === "fail")?.spanId).toBe(call?.spanId);
});

test.each(["NO_CONTENT", "SPAN_AND_EVENT"])(
  "with %s a picture's bytes are nowhere, but the span may contain its id",
  async (mode) => {
    const show = defineTool({
      description: "Shows.",
      input: z.object({}),
      run: () => toolResult({ content: [{ type: "image", source: { data: PNG } }] }),
    });
    const env = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: mode };
    await using talk = await TelemetryAgent.start({ env, tools: { show } });
    const user = await talk.agent.client("user");
    talk.agent.model.script([reply([toolUse("show")]), reply([text("Seen.")])]);
    const attachments = [{ data: Buffer.from(PNG).toString("base64") }];

    await user.send({ type: "user_message", body: { id: "m1", content: "Look", attachments } });
    await user.answerTo("m1");
    await talk.end();

    const said = talk.receiver.text + talk.lines.join("\n");
    expect(said).not.toContain(Buffer.from(PNG).toString("base64").slice(0, 40));
    expect(said.includes("image/png")).toBe(mode === "SPAN_AND_EVENT");
  },
);
