import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TurnPart, TurnTimings } from "../../src/conversation/turn-timings.ts";
import { ASK_USER, ASK_USER_SCHEMA } from "../../src/protocol/forms/form.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { toServerTool, type ServerTool } from "../../src/tool/server-tool.ts";
import { HttpToolServer } from "../tool/mcp/http-server.ts";
import { McpBench } from "../tool/mcp/mcp-bench.ts";
import { httpError, reply, serverToolResult, serverToolUse, slow, text, toolUse } from "../../src/model-server/step.ts";
import { guardedTool } from "../support/guarded-tool.ts";
import type { OtlpSpan } from "../support/servers/otlp-decode.ts";
import { TelemetryAgent } from "./telemetry-agent.ts";
import { announced } from "../support/client-tool.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

/**
 * Returns the name of every span with its parent's name, in order of start time. Of spans that started in the same
 * millisecond, the outermost comes first.
 */
function outline(spans: readonly OtlpSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const depth = ({ parentSpanId = "" }: OtlpSpan): number => {
    const parent = byId.get(parentSpanId);
    return parent ? depth(parent) + 1 : 0;
  };
  return spans
    .toSorted((a, b) => a.start - b.start || depth(a) - depth(b))
    .map(({ name, parentSpanId = "" }) => `${byId.get(parentSpanId)?.name ?? parentSpanId} > ${name}`);
}

test("a form is a span below the call that asks for it, and its device continues the span", async () => {
  const book = defineTool({
    description: "Books a table.",
    input: z.object({}),
    run: (_input, { elicit }) => elicit({ message: "Who?", schema: z.object({ name: z.string() }) }),
  });
  await using talk = await TelemetryAgent.start({ tools: { book } });
  const { agent, receiver } = talk;
  const user = await agent.client("user", { tools: [announced(ASK_USER, { inputSchema: ASK_USER_SCHEMA })] });
  agent.model.script([reply([toolUse("book")]), reply([text("Done.")])]);
  const messageId = await user.say("Go");
  const { id } = await user.next("tool_use_request", ({ toolName }) => toolName === ASK_USER);
  const envelope = user.received.find(({ message }) => "id" in message.body && message.body.id === id);
  await user.answer(id, { success: true, result: { action: "accept", content: { name: "Ana" } } });
  await user.answerTo(messageId);
  await talk.end();

  const named = (name: string) => receiver.spans.find((span) => span.name === name);
  const form = named("execute_tool ask_user");
  expect(form?.parentSpanId).toBe(named("execute_tool book")?.spanId);
  expect(envelope?.meta["traceparent"]).toBe(`00-${form?.traceId}-${form?.spanId}-01`);
});

test("one trace leads from the participant through the model and every kind of tool and back", async () => {
  let headers: unknown;
  const look = defineTool({
    description: "Looks.",
    input: z.object({}),
    run: (_input, { traceHeaders }) => void (headers = traceHeaders),
  });
  await using mcp = await HttpToolServer.start();
  await using bench = new McpBench({ shop: { url: mcp.url } });
  await bench.until("shop_echo");
  const liveTools = new Map<string, ServerTool>([
    ...bench.servers.tools,
    ["look", toServerTool("look", look, undefined)],
  ]);
  await using talk = await TelemetryAgent.start({
    liveTools,
    serverTools: [{ type: "web_search_20260318", name: "web_search" }],
  });
  const { agent, receiver } = talk;
  const user = await agent.client("user", { tools: [announced("scan")] });
  agent.model.script([
    reply([
      serverToolUse("web_search", { query: "a" }, "srvtoolu_1"),
      serverToolResult("web_search_tool_result", "srvtoolu_1", []),
      toolUse("look"),
      toolUse("scan"),
      toolUse("shop_echo", { text: "x" }),
    ]),
    reply([text("Done.")]),
  ]);
  const id = "message-1";
  await user.send({ type: "user_message", body: { id, content: "Go" } }, { meta: { traceparent: TRACEPARENT } });
  const request = await user.next("tool_use_request", ({ toolName }) => toolName === "scan");
  const envelope = user.received.find(
    ({ message }) => message.type === "tool_use_request" && message.body.id === request.id,
  );
  const theirs = `00-${TRACE}-00f067aa0ba902b7-01`;
  const body = { id: request.id, success: true, result: {} };
  await user.send({ type: "tool_use_result", body }, { meta: { traceparent: theirs } });
  expect(await user.answerTo(id)).toBe("Done.");
  await talk.end();

  const ours = receiver.spans.filter(({ scope }) => scope === "parley");
  const lines = outline(ours);
  // A step's calls do not wait for each other, so they may start in any order. The first call starts while the model is
  // still answering.
  expect([...lines.slice(0, 2), ...lines.slice(2, 6).toSorted(), ...lines.slice(6)]).toEqual([
    `${PARENT} > invoke_agent parley`,
    "invoke_agent parley > chat claude-test",
    "chat claude-test > execute_tool web_search",
    "invoke_agent parley > execute_tool look",
    "invoke_agent parley > execute_tool scan",
    "invoke_agent parley > execute_tool shop_echo",
    "invoke_agent parley > chat claude-test",
  ]);
  // Neither the Anthropic SDK nor an MCP SDK adds spans of its own.
  expect(receiver.spans.length).toBe(ours.length);
  expect(new Set(ours.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  const idOf = (name: string) => receiver.named(`execute_tool ${name}`)[0]?.spanId;
  expect(envelope?.meta).toEqual({ traceparent: `00-${TRACE}-${idOf("scan")}-01` });
  expect(headers).toEqual({ traceparent: `00-${TRACE}-${idOf("look")}-01` });
  expect(mcp.notes).toContain(`traceparent 00-${TRACE}-${idOf("shop_echo")}-01`);
  expect(receiver.named("execute_tool scan")[0]?.links).toMatchObject([{ spanId: "00f067aa0ba902b7" }]);
});

test("the spans follow the conventions", async () => {
  await using talk = await TelemetryAgent.start();
  const { agent, receiver } = talk;
  const user = await agent.client("user", { tools: [announced("scan")] });
  agent.model.script([reply([toolUse("scan")]), reply([text("Done.")])]);
  const id = await user.say("Go");
  const request = await user.next("tool_use_request");
  await user.answer(request.id, { success: false, errorCode: "made_up", errorMessage: "Paper jam" });
  await user.answerTo(id);
  await talk.end();

  const [turn] = receiver.named("invoke_agent parley");
  const [first, second] = receiver.named("chat claude-test");
  const [call] = receiver.named("execute_tool scan");
  expect(turn).toMatchObject({ kind: 1, status: 0, resource: { "service.name": "parley" } });
  expect(turn?.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.agent.name": "parley",
    "gen_ai.request.model": "claude-test",
    "parley.turn.state": "completed",
    "parley.turn.steps": 2,
    "parley.participant": "user",
  });
  expect(turn?.attributes["gen_ai.conversation.id"]).toBe(first?.attributes["gen_ai.conversation.id"]);
  expect(first).toMatchObject({ kind: 3, status: 0 });
  expect(first?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-test",
    "gen_ai.request.max_tokens": 1_024,
    "gen_ai.request.stream": true,
    "gen_ai.output.type": "text",
    "gen_ai.response.finish_reasons": ["tool_call"],
  });
  expect(first?.attributes["gen_ai.response.time_to_first_chunk"]).toBeGreaterThan(0);
  expect(second?.attributes["gen_ai.response.finish_reasons"]).toEqual(["stop"]);
  const tokens = [first, second].map((chat) => Number(chat?.attributes["gen_ai.usage.input_tokens"]));
  expect(turn?.attributes["gen_ai.usage.input_tokens"]).toBe(tokens.reduce((sum, each) => sum + each, 0));
  expect(call).toMatchObject({ kind: 1, status: 2 });
  expect(call?.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "scan",
    "gen_ai.tool.type": "function",
    "parley.call.id": request.id,
    "parley.execution.asked": "client",
    "parley.execution.resolved": "client",
    "parley.participant": "user",
    "parley.outcome": "error",
    "error.type": "_OTHER",
  });
});

test("an interrupted turn is no error, and its model call ends without a finish reason", async () => {
  await using talk = await TelemetryAgent.start();
  const { agent, receiver } = talk;
  const user = await agent.client("user");
  agent.model.script([reply([text("One two three four five six seven eight nine ten.")], slow(200))]);
  const id = await user.say("Go");
  await user.next("start_answer", ({ previousId }) => previousId === id);
  await expect.poll(() => agent.model.requests.length).toBe(1);
  await user.send({ type: "control_stop", body: {} });
  await user.answerTo(id);
  await talk.end();

  const [turn] = receiver.named("invoke_agent parley");
  const [chat] = receiver.named("chat claude-test");
  expect(turn).toMatchObject({ status: 0, attributes: { "parley.turn.state": "cancelled" } });
  expect(turn?.attributes["error.type"]).toBeUndefined();
  expect(chat).toMatchObject({ status: 0, attributes: { "gen_ai.response.finish_reasons": ["error"] } });
});

test("an interrupted turn's trace contains all it had started, ended with the turn, and the next turn has its own trace", async () => {
  const started = Promise.withResolvers<void>();
  const wait = defineTool({
    description: "Waits.",
    input: z.object({}),
    onInterrupt: "cancel",
    run: async (_input, { signal }) => {
      started.resolve();
      await sleep(10_000, undefined, { signal });
    },
  });
  await using talk = await TelemetryAgent.start({ tools: { wait }, policy: { onNewMessage: "interrupt" } });
  const { agent, receiver } = talk;
  const user = await agent.client("user");
  agent.model.script([reply([text("One moment."), toolUse("wait")]), reply([text("Done.")])]);
  await user.say("Go");
  await started.promise;
  expect(await user.answerTo(await user.say("Stop"))).toBe("Done.");
  await talk.end();

  const [first, second] = receiver.named("invoke_agent parley");
  const interrupted = receiver.spans.filter(({ traceId, scope }) => traceId === first?.traceId && scope === "parley");
  expect(outline(interrupted)).toEqual([
    " > invoke_agent parley",
    "invoke_agent parley > chat claude-test",
    "invoke_agent parley > execute_tool wait",
  ]);
  expect(first).toMatchObject({ status: 0, attributes: { "parley.turn.state": "interrupted" } });
  const [call] = receiver.named("execute_tool wait");
  expect(call).toMatchObject({ status: 0, attributes: { "parley.outcome": "cancelled", "error.type": "cancelled" } });
  expect(Math.max(...interrupted.map(({ end }) => end))).toBe(first?.end);
  expect(second?.traceId).not.toBe(first?.traceId);
  expect(second).toMatchObject({ status: 0, attributes: { "parley.turn.state": "completed" } });
});

test("a failed turn and its model call have the status of an error, and its kind", async () => {
  await using talk = await TelemetryAgent.start();
  const { agent, receiver } = talk;
  const user = await agent.client("user");
  agent.model.script([httpError(400)]);
  await user.answerTo(await user.say("Go"));
  await talk.end();

  const [turn] = receiver.named("invoke_agent parley");
  const [chat] = receiver.named("chat claude-test");
  expect(turn).toMatchObject({ status: 2, attributes: { "parley.turn.state": "failed" } });
  expect(turn?.attributes["error.type"]).toBe("invalid_state");
  expect(chat).toMatchObject({ status: 2, attributes: { "gen_ai.response.finish_reasons": ["error"] } });
  expect(chat?.attributes["error.type"]).toBe("invalid_request");
});

test("an either call shows its claim window", async () => {
  const note = defineTool({ description: "N.", input: z.object({}), execution: "either", run: () => "noted" });
  await using talk = await TelemetryAgent.start({ tools: { note } });
  const { agent, receiver } = talk;
  const user = await agent.client("user", { features: ["claims"] });
  agent.model.script([reply([toolUse("note")]), reply([text("Done.")])]);
  await user.answerTo(await user.say("Go"));
  await talk.end();

  const [claim] = receiver.named("parley.claim");
  const [call] = receiver.named("execute_tool note");
  expect(claim?.parentSpanId).toBe(call?.spanId);
  expect(claim?.attributes).toMatchObject({ "parley.participant": "user", "parley.claim.end": "server" });
  expect(call?.attributes).toMatchObject({ "parley.execution.asked": "either", "parley.execution.resolved": "server" });
});

test("an unreadable trace is ignored", async () => {
  await using talk = await TelemetryAgent.start();
  const { agent, receiver } = talk;
  const user = await agent.client("user");
  agent.model.script([reply([text("Done.")])]);
  const meta = { traceparent: `00-${"0".repeat(32)}-nonsense`, tracestate: "\u0000" };
  await user.send({ type: "user_message", body: { id: "m", content: "Go" } }, { meta });
  expect(await user.answerTo("m")).toBe("Done.");
  await talk.end();

  expect(receiver.named("invoke_agent parley")[0]?.parentSpanId).toBeFalsy();
});

test("a refused permission shows how long it was waited for, and none of its words", async () => {
  await using talk = await TelemetryAgent.start({ tools: { write: guardedTool().tool } });
  const { agent, receiver } = talk;
  const user = await agent.client("user", { features: ["permissions"] });
  agent.model.script([reply([toolUse("write", { path: "MkPath" })]), reply([text("All right.")])]);
  const id = await user.say("Write it");
  const { id: permissionId } = await user.next("permission_request");
  const body = { permissionId, response: "reject", message: "MkReason" } as const;
  await user.send({ type: "permission_response", body });
  await user.answerTo(id);
  await talk.end();

  const [permission] = receiver.named("parley.permission");
  const [call] = receiver.named("execute_tool write");
  expect(permission?.parentSpanId).toBe(call?.spanId);
  expect(permission?.attributes).toMatchObject({
    "parley.permission.id": permissionId,
    "parley.permission.state": "rejected",
    "parley.permission.via": "data",
  });
  expect(call?.attributes).toMatchObject({ "error.type": "permission_denied", "parley.outcome": "error" });
  expect(receiver.metrics.find(({ name }) => name === "parley.permission.wait")?.points[0]?.count).toBe(1);
  expect([receiver.text.includes("MkPath"), receiver.text.includes("MkReason")]).toEqual([false, false]);
});

test("a turn's record has the times of its spans, and so do clients that follow it", async () => {
  const note = defineTool({ description: "N.", input: z.object({}), execution: "either", run: () => "noted" });
  await using talk = await TelemetryAgent.start({ tools: { note, write: guardedTool().tool } });
  const { agent, receiver } = talk;
  const user = await agent.client("user", { features: ["blocks", "claims", "permissions"] });
  agent.model.script([
    reply([toolUse("note", {}, "toolu_1"), toolUse("write", { path: "MkPath" }, "toolu_2")]),
    reply([text("Done.")]),
  ]);
  const id = await user.say("Write it");
  const { id: permissionId } = await user.next("permission_request");
  await user.send({ type: "permission_response", body: { permissionId, response: "once" } });
  await user.answerTo(id);
  const { timings } = await user.next("block_event", ({ event }) => event === "turn_complete");
  const [stored] = await agent.sql`select timings from turns`;
  await talk.end();

  expect(stored).toEqual({ timings });
  const { startedAt, totalMs, firstTextMs, parts } = timings as unknown as TurnTimings;
  expect(firstTextMs).toBeLessThanOrEqual(totalMs);
  const inMs = (nanoseconds: number) => nanoseconds / 1e6 - startedAt;
  const spans = receiver.spans.filter(({ name }) => name !== "invoke_agent parley");
  const byIds = (part: TurnPart) => `${part.span} ${part.callId} ${part.toolUseId}`;
  const ofSpans = spans.map(({ name, start, end, attributes }): TurnPart => {
    const firstChunk = attributes["gen_ai.response.time_to_first_chunk"];
    const [callId, toolUseId] = [attributes["parley.call.id"], attributes["gen_ai.tool.call.id"]] as string[];
    return {
      span: name.split(" ")[0] ?? "",
      fromMs: inMs(start),
      toMs: inMs(end),
      ...(firstChunk !== undefined && { firstMs: inMs(start) + 1_000 * Number(firstChunk) }),
      ...(callId !== undefined && { callId }),
      ...(toolUseId !== undefined && { toolUseId }),
    };
  });
  const ordered = (all: readonly TurnPart[]) =>
    all.toSorted((left, right) => byIds(left).localeCompare(byIds(right)) || left.fromMs - right.fromMs);
  // A part and its span are measured a moment apart, so their times may differ by up to 50 ms.
  const near = (ms = NaN): unknown => expect.closeTo(ms, -2);
  expect(ordered(parts)).toEqual(
    ordered(ofSpans).map((part) => ({
      ...part,
      fromMs: near(part.fromMs),
      toMs: near(part.toMs),
      ...(part.firstMs !== undefined && { firstMs: near(part.firstMs) }),
    })),
  );
  expect(parts.map(({ span }) => span).toSorted()).toEqual([
    "chat",
    "chat",
    "execute_tool",
    "execute_tool",
    "parley.claim",
    "parley.permission",
  ]);
  expect(JSON.stringify(timings)).not.toContain("write");
});
