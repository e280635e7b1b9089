import { expect, test } from "vitest";
import { z } from "zod";
import { ToolError } from "../../src/client/index.ts";
import { encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { openClient, openWithTool, stuckTool } from "./open-client.ts";

test("a map that a tool returns is the result", async () => {
  const { room } = await openWithTool(async ({ text }) => ({ text, isWhole: true }));

  room.request({ id: "r1", parameters: { text: "hello" } });

  expect(await room.result("r1")).toEqual({ id: "r1", success: true, result: { text: "hello", isWhole: true } });
});

test.each([
  ["nothing", undefined, {}],
  ["null", null, {}],
  ["a text", "yes", { value: "yes" }],
  ["a number", 0, { value: 0 }],
  ["false", false, { value: false }],
  ["a list", [1, 2], { value: [1, 2] }],
])("a tool that returns %s succeeds", async (_name, value, result) => {
  const { room } = await openWithTool(() => value);

  room.request({ id: "r1" });

  expect(await room.result("r1")).toEqual({ id: "r1", success: true, result });
});

test("a call to an unregistered tool is answered in the words of spec/000", async () => {
  const { room } = await openClient();

  room.request({ id: "r1", toolName: "format_disk" });

  expect(await room.result("r1")).toEqual({
    id: "r1",
    success: false,
    errorCode: "unknown_tool",
    errorMessage: "Tool 'format_disk' is not supported by this client",
  });
});

test("parameters that do not match a zod schema are refused before the tool runs, with the field in the error", async () => {
  const { room, parley } = await openClient();
  let runs = 0;
  parley.registerTool({
    name: "add",
    description: "Adds.",
    input: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => ({ sum: a + b, runs: ++runs }),
  });

  room.request({ id: "r1", toolName: "add", parameters: { a: 1, b: "2" } });

  expect(await room.result("r1")).toMatchObject({ success: false, errorCode: "invalid_parameters" });
  expect((await room.result("r1")).errorMessage).toContain('"b"');
  expect(runs).toBe(0);
});

test("parameters that do not match a JSON Schema are refused, too", async () => {
  const input = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const { room } = await openWithTool(() => "never", { input });

  room.request({ id: "r1", parameters: { town: "Oslo" } });

  const result = await room.result("r1");
  expect(result.errorCode).toBe("invalid_parameters");
  expect(result.errorMessage).toContain('"city"');
});

test("parameters that are not a map are refused", async () => {
  const { room } = await openWithTool(() => "never");
  const body = { id: "r1", messageId: "m1", toolName: "echo", execution: "client", parameters: [1] };

  room.sayBytes(
    encodeEnvelope({ stanzaId: -50, conversationId: "ac_1", message: { type: "tool_use_request", body } as never }),
  );

  expect(await room.result("r1")).toMatchObject({ success: false, errorCode: "invalid_parameters" });
});

test("a tool receives the parsed input, including defaults", async () => {
  const { room, parley } = await openClient();
  const input = z.object({ limit: z.number().default(5) });
  parley.registerTool({ name: "list", description: "Lists.", input, run: ({ limit }) => ({ limit }) });

  room.request({ id: "r1", toolName: "list" });

  expect((await room.result("r1")).result).toEqual({ limit: 5 });
});

test.each([
  [
    "throws",
    () => {
      throw new Error("The printer is on fire");
    },
  ],
  ["rejects", async () => Promise.reject(new Error("The printer is on fire"))],
  [
    "throws a text",
    () => {
      throw "The printer is on fire";
    },
  ],
])("a tool that %s answers with its message", async (_name, run) => {
  const { room } = await openWithTool(run);

  room.request({ id: "r1" });

  const expected = { id: "r1", success: false, errorCode: "execution_error", errorMessage: "The printer is on fire" };
  expect(await room.result("r1")).toEqual(expected);
});

test("a thrown value without any text still results in an answer", async () => {
  const { room } = await openWithTool(() => {
    throw Object.create(null);
  });

  room.request({ id: "r1" });

  expect(await room.result("r1")).toMatchObject({ success: false, errorMessage: "The tool failed without a message" });
});

test("a ToolError sets the code and keeps a partial result", async () => {
  const { room } = await openWithTool(() => {
    throw new ToolError("no_access", "Half of it", { result: { read: 3 } });
  });

  room.request({ id: "r1" });

  expect(await room.result("r1")).toEqual({
    id: "r1",
    success: false,
    errorCode: "no_access",
    errorMessage: "Half of it",
    result: { read: 3 },
  });
});

test.each([
  ["a function", () => ({ act: () => {} })],
  ["an object of a class", () => ({ at: new URL("http://localhost") })],
  ["a big integer", () => ({ count: 2n ** 70n })],
  [
    "a getter that throws",
    () => ({
      get trap() {
        throw new Error("no");
      },
    }),
  ],
])("%s in a result causes an execution_error that describes the problem", async (_name, run) => {
  const { room } = await openWithTool(run);

  room.request({ id: "r1" });

  const { success, errorCode, errorMessage } = await room.result("r1");
  expect({ success, errorCode }).toEqual({ success: false, errorCode: "execution_error" });
  expect(errorMessage).toContain("cannot be encoded");
});

test.each([
  ["5 MiB in parts", () => ({ parts: Array.from({ length: 10 }, () => "x".repeat(512 * 1024)) })],
  ["a text above 1 MiB", () => "x".repeat(1024 * 1024 + 1)],
  [
    "a cycle",
    () => {
      const a: Record<string, unknown> = {};
      a["a"] = a;
      return a;
    },
  ],
])("%s is answered with result_too_large", async (_name, run) => {
  const { room } = await openWithTool(run);

  room.request({ id: "r1" });

  expect(await room.result("r1")).toMatchObject({ success: false, errorCode: "result_too_large" });
});

test("a result above 15,000 bytes is sent as a byte stream", async () => {
  const { room } = await openWithTool(() => "x".repeat(100_000));

  room.request({ id: "r1" });
  await room.result("r1");

  expect(room.heard.find(({ message }) => message.type === "tool_use_result")?.way).toBe("stream");
});

test("a slow tool is aborted at timeoutMs and answered in the words of spec/000", async () => {
  const tool = stuckTool();
  const { room, parley } = await openWithTool(tool.run);

  room.request({ id: "r1", timeoutMs: 20 });

  expect(await room.result("r1")).toEqual({
    id: "r1",
    success: false,
    errorCode: "timeout",
    errorMessage: "Tool execution exceeded timeout of 20ms",
  });
  expect(tool.signals[0]?.aborted).toBe(true);
  expect(parley.runningToolCount).toBe(0);
});

test.each([{}, { timeoutMs: 0 }])("a request with %j as its time gets 30 s", async (time) => {
  using clock = new VirtualClock();
  const { room } = await openWithTool(stuckTool().run, { timeoutMs: 15 });

  room.request({ id: "r1", ...time });
  await clock.run(31_000);

  expect((await room.result("r1")).errorMessage).toBe("Tool execution exceeded timeout of 30000ms");
});

test("a tool that ends after its timeout sends no second result", async () => {
  const { room } = await openWithTool(() => new Promise((resolve) => setTimeout(resolve, 40)));

  room.request({ id: "r1", timeoutMs: 10 });
  await new Promise((resolve) => setTimeout(resolve, 80));

  expect(room.results("r1")).toHaveLength(1);
});

test("a cancel from the worker aborts the tool and is answered once, as cancelled", async () => {
  const tool = stuckTool();
  const { room } = await openWithTool(tool.run);
  room.request({ id: "r1" });
  await expect.poll(tool.started).toBe(1);

  room.say({ type: "tool_use_cancel", body: { id: "r1", reason: "interrupted" } });

  expect(await room.result("r1")).toMatchObject({ success: false, errorCode: "cancelled" });
  expect(tool.signals[0]?.aborted).toBe(true);
});

test("a request that arrives after its cancel is not run", async () => {
  const tool = stuckTool();
  const { room } = await openWithTool(tool.run);

  room.say({ type: "tool_use_cancel", body: { id: "r1", reason: "timeout" } });
  room.request({ id: "r1" });

  expect(await room.result("r1")).toMatchObject({ success: false, errorCode: "cancelled" });
  expect(tool.started()).toBe(0);
});

test("fifty calls at once are each answered once", async () => {
  const { room } = await openWithTool(async ({ n }) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    return { n };
  });
  const ids = Array.from({ length: 50 }, (_, n) => `r${n}`);

  for (const [n, id] of ids.entries()) room.request({ id, parameters: { n } });
  const results = await Promise.all(ids.map((id) => room.result(id)));

  expect(results.map(({ result }) => result?.["n"])).toEqual(ids.map((_, n) => n));
  expect(room.all("tool_use_result")).toHaveLength(50);
});
