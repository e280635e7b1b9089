import { encode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import type { ToolCallEvent, ToolContext } from "../../src/client/index.ts";
import { encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { openClient, openWithTool, stuckTool } from "./open-client.ts";

function rawRequest(body: Record<string, unknown>, stanzaId = -90): Uint8Array {
  const message = { type: "tool_use_request", body: { messageId: "m1", toolName: "echo", parameters: {}, ...body } };
  return encodeEnvelope({ stanzaId, conversationId: "ac_1", message: message as never });
}

test("a repeated request is answered again and not run again", async () => {
  let runs = 0;
  const { room } = await openWithTool(() => ({ runs: ++runs }));
  room.request({ id: "r1" });
  await room.result("r1");

  room.request({ id: "r1" });
  await room.until(() => room.results("r1").length === 2);

  expect(room.results("r1").map(({ result }) => result)).toEqual([{ runs: 1 }, { runs: 1 }]);
});

test("a repeated request starts nothing while its call runs", async () => {
  const tool = stuckTool();
  const { room } = await openWithTool(tool.run);

  room.request({ id: "r1", timeoutMs: 30 });
  room.request({ id: "r1", timeoutMs: 30 });
  await room.result("r1");

  expect(tool.started()).toBe(1);
  expect(room.results("r1")).toHaveLength(1);
});

test("a request for an unknown tool stays unknown when the tool is registered later", async () => {
  const { room, parley } = await openClient();
  room.request({ id: "r1" });
  await room.result("r1");

  parley.registerTool({ name: "echo", description: "", input: { type: "object" }, run: () => "now" });
  room.request({ id: "r1" });
  await room.until(() => room.results("r1").length === 2);

  expect(room.results("r1")[1]?.errorCode).toBe("unknown_tool");
});

test("a request's packet that arrives twice is answered twice and run once", async () => {
  let runs = 0;
  const { room } = await openWithTool(() => ({ runs: (runs += 1) }));
  const stanzaId = room.request({ id: "r1" });
  await room.result("r1");

  const body = { id: "r1", messageId: "m1", toolName: "echo", parameters: {}, execution: "client" } as const;
  room.say({ type: "tool_use_request", body }, { stanzaId });
  await room.until(() => room.results("r1").length === 2);

  expect(room.results("r1").map(({ result }) => result)).toEqual([{ runs: 1 }, { runs: 1 }]);
});

test.each([
  ["is missing", {}],
  ["is unknown", { execution: "Client" }],
  ["is missing, as are its parameters", { parameters: undefined }],
  ["is unknown, as is its tool", { execution: "Client", toolName: "../echo" }],
])("a request whose execution %s is answered with error 101 and not run", async (_name, fields) => {
  const tool = stuckTool();
  const { room } = await openWithTool(tool.run);

  room.sayBytes(rawRequest({ id: "r1", ...fields }));
  await room.until(() => room.all("error_message").length > 0);

  const message = expect.stringMatching(/^tool_use_request\.execution: /);
  expect(room.all("error_message")).toEqual([expect.objectContaining({ code: 101, message, originatingId: "r1" })]);
  expect(room.results("r1")).toEqual([]);
  expect(tool.started()).toBe(0);
});

test.each([
  ["a name that no tool can have", { toolName: "../echo" }, "unknown_tool", "Tool '../echo' is not supported"],
  ["no name", { toolName: undefined }, "unknown_tool", "Tool '' is not supported"],
  ["no parameters", { parameters: undefined }, "invalid_parameters", "tool_use_request.parameters: "],
  ["a list as parameters", { parameters: [1] }, "invalid_parameters", "tool_use_request.parameters: "],
  ["a text as timeoutMs", { timeoutMs: "5" }, "invalid_parameters", "tool_use_request.timeoutMs: "],
  ["a negative timeoutMs", { timeoutMs: -1 }, "invalid_parameters", "tool_use_request.timeoutMs: "],
  ["no messageId", { messageId: undefined }, "invalid_parameters", "tool_use_request.messageId: "],
])("a request with %s is answered with one result and no ErrorMessage", async (...[, fields, errorCode, why]) => {
  const tool = stuckTool();
  const { room } = await openWithTool(tool.run);

  room.sayBytes(rawRequest({ id: "r1", execution: "client", ...fields }));
  room.sayBytes(rawRequest({ id: "r1", execution: "client", ...fields }));
  await room.result("r1");
  await new Promise((resolve) => setTimeout(resolve, 20));

  const errorMessage = expect.stringContaining(why);
  expect(room.results("r1")).toEqual([{ id: "r1", success: false, errorCode, errorMessage }]);
  expect(room.all("error_message")).toEqual([]);
  expect(tool.started()).toBe(0);
});

test("a request that is too deep to be read is answered with a result", async () => {
  const { room } = await openWithTool(stuckTool().run);
  let parameters: unknown = 1;
  for (let depth = 0; depth < 40; depth++) parameters = { parameters };
  const body = { id: "r1", messageId: "m1", toolName: "echo", execution: "client", parameters };

  room.sayBytes(encode({ stanzaId: -90, conversationId: "ac_1", type: 6, meta: {}, body }));

  expect(await room.result("r1")).toMatchObject({ errorCode: "invalid_parameters" });
  expect(room.all("error_message")).toEqual([]);
});

test("an invalid request that is repeated in another packet gets the same answer", async () => {
  const { room, parley } = await openClient();
  room.sayBytes(rawRequest({ id: "r1", execution: "client", timeoutMs: -1 }, -90));
  await room.result("r1");

  parley.registerTool({ name: "echo", description: "", input: { type: "object" }, run: () => "now" });
  room.sayBytes(rawRequest({ id: "r1", execution: "client", timeoutMs: -1 }, -91));
  await room.until(() => room.results("r1").length === 2);

  expect(room.results("r1").map(({ errorCode }) => errorCode)).toEqual(["unknown_tool", "unknown_tool"]);
});

test("a request without an id, which no result can refer to, is answered with error 101", async () => {
  const { room } = await openWithTool(stuckTool().run);

  room.sayBytes(rawRequest({ execution: "client" }));
  await room.until(() => room.all("error_message").length > 0);

  expect(room.all("error_message")).toMatchObject([{ code: 101, message: expect.stringContaining(".id: ") }]);
  expect(room.all("error_message")[0]).not.toHaveProperty("originatingId");
  expect(room.all("tool_use_result")).toEqual([]);
});

test("an invalid request for the server is not answered by the client", async () => {
  const { room, parley } = await openWithTool(stuckTool().run);
  const codes: number[] = [];
  parley.on("error", ({ code }) => codes.push(code));

  room.sayBytes(rawRequest({ id: "r1", execution: "server", timeoutMs: -1 }));
  await new Promise((resolve) => setTimeout(resolve, 20));

  expect(codes).toEqual([101]);
  expect(room.all("error_message")).toEqual([]);
  expect(room.results("r1")).toEqual([]);
});

test("a request for the server is shown, but not run or answered", async () => {
  const tool = stuckTool();
  const { room, parley } = await openWithTool(tool.run);
  const calls: ToolCallEvent[] = [];
  parley.on("tool_call", (call) => calls.push(call));

  room.request({ id: "r1", execution: "server", parameters: { a: 1 } });
  await new Promise((resolve) => setTimeout(resolve, 20));

  expect(calls).toEqual([{ id: "r1", messageId: "m1", toolName: "echo", parameters: { a: 1 }, ranBy: "server" }]);
  expect(room.results("r1")).toEqual([]);
  expect(tool.started()).toBe(0);
});

test("an either request that we can serve is claimed by an Ack of its stanza, then answered", async () => {
  const { room } = await openWithTool(() => ({ here: true }));

  const stanzaId = room.request({ id: "r1", execution: "either" });

  expect(await room.result("r1")).toMatchObject({ success: true, result: { here: true } });
  expect(room.all("acknowledgement")).toEqual([{ acknowledgedStanzaId: stanzaId, success: true }]);
});

test("an either request for a tool that we lack is declined and left to the server", async () => {
  const { room } = await openClient();

  const stanzaId = room.request({ id: "r1", execution: "either" });
  await room.until(() => room.all("acknowledgement").length > 0);

  expect(room.all("acknowledgement")).toEqual([{ acknowledgedStanzaId: stanzaId, success: false }]);
  expect(room.results("r1")).toEqual([]);
});

test("a repeated call that the server took over is only shown", async () => {
  const { room, parley } = await openWithTool(stuckTool().run);
  room.request({ id: "r1", execution: "either" });
  room.say({ type: "tool_use_cancel", body: { id: "r1", reason: "superseded" } });
  await room.result("r1");
  const runners: string[] = [];
  parley.on("tool_call", ({ ranBy }) => runners.push(ranBy));

  room.request({ id: "r1", execution: "server" });
  await new Promise((resolve) => setTimeout(resolve, 20));

  expect(runners).toEqual(["server"]);
  expect(room.results("r1")).toHaveLength(1);
});

test("only messages from agents are handled", async () => {
  const tool = stuckTool();
  const { room } = await openWithTool(tool.run);
  const body = { id: "r1", messageId: "m1", toolName: "echo", parameters: {}, execution: "client" } as const;

  room.say({ type: "tool_use_request", body }, { from: { identity: "mallory", isAgent: false } });
  room.say({ type: "tool_use_request", body }, { from: undefined });
  await new Promise((resolve) => setTimeout(resolve, 20));

  expect(tool.started()).toBe(0);
  expect(room.results("r1")).toEqual([]);
});

test("a tool's logs and progress are sent in few messages, before its result", async () => {
  const { room } = await openWithTool((_input, { log, progress }) => {
    log("one");
    log("two");
    progress(0.5);
    progress(7);
  });

  room.request({ id: "r1" });
  await room.result("r1");

  expect(room.all("tool_use_progress")).toEqual([{ id: "r1", log: "one\ntwo", progress: 1 }]);
  const types = room.heard.map(({ message }) => message.type);
  expect(types.indexOf("tool_use_progress")).toBeLessThan(types.indexOf("tool_use_result"));
});

test("a tool that logs endlessly stays far below the worker's limit", async () => {
  const { room } = await openWithTool((_input, { log, signal }) => {
    const timer = setInterval(() => log("still at it"), 1);
    signal.addEventListener("abort", () => clearInterval(timer));
    return new Promise(() => {});
  });

  for (let n = 0; n < 10; n++) room.request({ id: `r${n}`, timeoutMs: 900 });
  await room.result("r9");

  expect(room.all("tool_use_progress").length).toBeLessThanOrEqual(30);
});

/** Returns an envelope `{stanzaId: …}` with these bytes as its value. */
const inEnvelope = (hex: string) => Uint8Array.from(Buffer.from(`81a87374616e7a614964${hex}`, "hex"));
/** Bytes that no message may contain. The decoder library refuses some of them and decodes the others. */
const UNREADABLE: readonly [name: string, bytes: Uint8Array, code?: number][] = [
  ["nothing", new Uint8Array(0)],
  ["a list of 4 billion items", Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff)],
  ["ten nested lists of 33 million items", inEnvelope("dd02000000".repeat(10))],
  ["14,000 nested lists", new Uint8Array(14_000).fill(0x91)],
  ["a map in 200,000 lists", inEnvelope(`${"91".repeat(200_000)}80`), 413],
  ["60,000 lists", inEnvelope(`dd0000ea60${"90".repeat(60_000)}`), 413],
  ["bytes instead of a map", Uint8Array.of(0xc4, 1, 0)],
  ["the byte 0xc1", inEnvelope("c1")],
  ["an unknown extension", inEnvelope("d46300")],
  ["a key that is not UTF-8", Uint8Array.of(0x81, 0xa1, 0xff, 0xc0)],
  ["a byte after the map", Uint8Array.of(0x80, 0x00)],
];

test.each(UNREADABLE)("%s from an agent is an error, and the next request is run", async (_name, bytes, code = 101) => {
  const { room, parley } = await openWithTool(() => ({ ok: true }));
  const codes: number[] = [];
  parley.on("error", ({ code }) => codes.push(code));

  room.sayBytes(bytes);
  room.request({ id: "r1" });

  expect(await room.result("r1")).toMatchObject({ success: true });
  expect(codes).toEqual([code]);
});

test("a tool receives exactly the arguments that were sent, whatever their keys and texts", async () => {
  const given: unknown[] = [];
  const { room } = await openWithTool((input) => {
    given.push(JSON.stringify(input), Object.getPrototypeOf(input) === Object.prototype);
  });
  const text = JSON.stringify(`\uFEFF${"é".repeat(200)}`);
  const json = `{"__proto__":{"a":${text}},"constructor":[{"prototype":1,"__proto__":2}],"\uFEFFkey":${text}}`;

  room.sayBytes(rawRequest({ id: "r1", execution: "client", parameters: JSON.parse(json) }));

  expect(await room.result("r1")).toMatchObject({ success: true });
  expect(given).toEqual([json, true]);
});

test("a tool for the room is announced as such, and receives the turn's participant when that is another one", async () => {
  const { room, parley } = await openClient();
  const calls: ToolCallEvent[] = [];
  parley.on("tool_call", (call) => calls.push(call));
  const input = { type: "object" };
  const run = (_input: unknown, context: ToolContext) => ({ for: context.participant ?? "us" });
  parley.registerTool({ name: "print", description: "Prints.", input, scope: "room", run });
  await parley.whenConnected(1_000);

  room.request({ id: "r1", toolName: "print", participant: "bob" });
  room.request({ id: "r2", toolName: "print" });

  expect(room.all("configuration").at(-1)?.tools).toMatchObject([{ name: "print", scope: "room" }]);
  expect([await room.result("r1"), await room.result("r2")]).toMatchObject([
    { result: { for: "bob" } },
    { result: { for: "us" } },
  ]);
  expect(calls.map(({ participant }) => participant)).toEqual(["bob", undefined]);
});
