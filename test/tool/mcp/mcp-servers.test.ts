import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { findFreePorts } from "../../support/servers/free-ports.ts";
import { expect, test, vi } from "vitest";
import { compileMcpSchema } from "../../../src/tool/mcp/mcp-schema.ts";
import { offeredTools } from "../../../src/tool/tool-routing.ts";
import { cpuMs } from "../../support/cpu-ms.ts";
import { serverTool } from "../memory-ports.ts";
import { HttpToolServer } from "./http-server.ts";
import { McpBench, SILENT_SERVER } from "./mcp-bench.ts";

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ name, inputSchema: { type: "object" }, ...more });

test("a server that never answers, one that cannot be started and one that does not exist delay nobody", async () => {
  const closedPort = await findFreePorts(1);
  await using server = await HttpToolServer.start();
  const startedAt = performance.now();
  const bench = new McpBench(
    {
      silent: { command: process.execPath, args: [SILENT_SERVER], timeoutMs: 300 },
      missing: { command: "/no/such/command" },
      away: { url: `http://localhost:${closedPort}/mcp` },
      shop: { url: server.url },
    },
    { own: serverTool("own", {}) },
  );
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(await bench.ports.run("own")).toEqual({ content: "ok", isError: false });
  await bench.until("shop_echo");
  await vi.waitFor(() => expect(bench.warnings()).toHaveLength(3), { timeout: 5_000 });
  await new Promise((resolve) => setTimeout(resolve, 1_500));

  expect(Object.fromEntries(bench.warnings().map(({ mcpServer, why }) => [mcpServer, why]))).toEqual({
    silent: expect.stringMatching(/no answer in time/) as string,
    missing: "ENOENT: /no/such/command",
    away: "ECONNREFUSED",
  });
  await bench.servers.close();
});

test("the warning for a server that dies contains the end of what it wrote to stderr", async () => {
  const args = ["-e", 'console.error("SHOP_KEY is not set"); process.exit(1)'];
  await using bench = new McpBench({ shop: { command: process.execPath, args } });

  await vi.waitFor(() => expect(bench.warnings()).toHaveLength(1), { timeout: 5_000 });

  expect(bench.warnings()).toMatchObject([{ why: "connection closed", stderr: "SHOP_KEY is not set" }]);
});

test("a tool on a server that is down is known, but not offered", async () => {
  await using server = await HttpToolServer.start([tool("echo"), tool("crash")]);
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_echo");
  expect(offeredTools(bench.servers.tools, [], { isCompacted: false }).map(({ name }) => name)).toEqual([
    "shop_crash",
    "shop_echo",
  ]);

  await bench.ports.run("shop_crash");
  await vi.waitFor(() => expect(offeredTools(bench.servers.tools, [], { isCompacted: false })).toEqual([]), {
    timeout: 10_000,
  });
  expect(bench.servers.tools.has("shop_echo")).toBe(true);
});

test("a server that has listed its tools is reported by its prefix; an unreachable one is not", async () => {
  await using server = await HttpToolServer.start([tool("echo")]);
  await using bench = new McpBench({ shop: { url: server.url }, missing: { command: "/no/such/command" } });
  await bench.until("shop_echo");
  await vi.waitFor(() => expect(bench.warnings()).toHaveLength(1), { timeout: 5_000 });

  expect(bench.listed).toEqual(["shop_"]);
  expect(bench.areAllListed).toEqual([false]);
});

test("the last of several servers to list its tools is reported as the last", async () => {
  await using server = await HttpToolServer.start([tool("echo")]);
  await using bench = new McpBench({ shop: { url: server.url }, crm: { url: server.url } });
  await bench.until("shop_echo", "crm_echo");

  expect(bench.areAllListed).toEqual([false, true]);
});

test("only a server's tools that match a pattern are used, in which a star matches any text", async () => {
  await using server = await HttpToolServer.start(
    ["get/one", "get.two", "forget", "a+b", "aab"].map((name) => tool(name)),
  );
  await using bench = new McpBench({ shop: { url: server.url, tools: ["get*", "a+b"] } });
  await bench.until("shop_get_one");

  expect(bench.names).toEqual(["shop_get_one", "shop_get_two", "shop_a_b"]);
});

test("a pattern with many stars delays nobody, whatever a server names its tools", async () => {
  await using server = await HttpToolServer.start([tool("a".repeat(5_000)), tool("ab")]);
  const before = cpuMs();
  await using bench = new McpBench({ shop: { url: server.url, tools: ["*a*a*a*a*b", "ab"] } });
  await bench.until("shop_ab");

  expect(cpuMs() - before).toBeLessThan(2_000);
});

test("names are adapted, and conflicting or overlong names are refused with a warning", async () => {
  const long = "x".repeat(60);
  await using server = await HttpToolServer.start([tool("get/the weather"), tool("get.the.weather"), tool(long)]);
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_get_the_weather");

  expect(bench.names).toEqual(["shop_get_the_weather"]);
  expect(bench.warnings()).toMatchObject([
    { tool: "get.the.weather", why: 'the server has another tool named "shop_get_the_weather"' },
    { tool: long, why: `the name "shop_${long}" is longer than 64 characters` },
  ]);
});

test("the folder's tools are never shadowed, and of two servers the first in the config wins", async () => {
  await using first = await HttpToolServer.start([tool("b_c", { description: "First." }), tool("own")]);
  await using second = await HttpToolServer.start([tool("c", { description: "Second." }), tool("other")]);
  await using bench = new McpBench(
    { a: { url: first.url }, a_b: { url: second.url } },
    { a_own: serverTool("a_own", { description: "Ours." }) },
  );
  await bench.until("a_b_c", "a_b_other");
  await vi.waitFor(() => expect(bench.warnings()).toHaveLength(2));

  expect(bench.servers.tools.get("a_own")?.description).toBe("Ours.");
  expect(bench.servers.tools.get("a_b_c")?.description).toBe("First.");
  expect(bench.warnings().map((line) => line["tool"])).toEqual(expect.arrayContaining(["a_own", "a_b_c"]));
});

test("hostile and broken tools affect only themselves", async () => {
  const schema = (properties: Record<string, object>): Partial<Tool> => ({
    inputSchema: { type: "object", properties },
  });
  await using server = await HttpToolServer.start([
    tool("slow_pattern", schema({ text: { type: "string", pattern: "^(a+)+$" } })),
    tool("huge", schema({ text: { description: "x".repeat(40_000) } })),
    tool("broken", schema({ text: { type: "strin" } })),
    tool("odd_property", schema({ "no good": { type: "string" } })),
    tool("task", { execution: { taskSupport: "required" } }),
    { name: "rootless", inputSchema: { type: "string" } } as unknown as Tool,
    { description: "No name." } as unknown as Tool,
    tool("good", { outputSchema: { type: "object", properties: { a: { pattern: "(" } } } }),
  ]);
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_good");

  expect(bench.names).toEqual(["shop_slow_pattern", "shop_broken", "shop_odd_property", "shop_rootless", "shop_good"]);
  expect(bench.warnings()).toHaveLength(3);
  const startedAt = performance.now();
  await bench.ports.run("shop_slow_pattern", { text: `${"a".repeat(40)}!` });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test("the model is shown valid references and patterns, and nothing that the API would refuse", () => {
  const { jsonSchema, parse } = compileMcpSchema({
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    oneOf: [{ required: ["shelf"] }],
    properties: {
      shelf: { $ref: "#/$defs/Shelf" },
      other: { $ref: "https://example.com/other.json" },
      missing: { $ref: "#/$defs/Missing" },
      text: { type: "string", pattern: "^[a-z]+$" },
      bad: { type: "string", pattern: "(" },
      pattern: { type: "string" },
    },
    $defs: { Shelf: { type: "integer" } },
  });

  expect(jsonSchema).toEqual({
    type: "object",
    properties: {
      shelf: { $ref: "#/$defs/Shelf" },
      other: {},
      missing: {},
      text: { type: "string", pattern: "^[a-z]+$" },
      bad: { type: "string" },
      pattern: { type: "string" },
    },
    $defs: { Shelf: { type: "integer" } },
    required: ["shelf"],
  });
  expect(parse({ shelf: 1 })).toEqual({ shelf: 1 });
  expect(() => parse({})).toThrow("shelf");
});
