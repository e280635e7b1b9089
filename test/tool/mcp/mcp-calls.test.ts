import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { HttpToolServer } from "./http-server.ts";
import { McpBench, STDIO_SERVER } from "./mcp-bench.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const folder = forFile(tempFolder);

interface Running extends AsyncDisposable {
  readonly bench: McpBench;
  readonly notes: () => Promise<string[]>;
}

async function overStdio(more: Record<string, unknown> = {}): Promise<Running> {
  const file = join(folder.path, `notes-${Math.random()}`);
  const bench = new McpBench({ shop: { command: process.execPath, args: [STDIO_SERVER, file], ...more } });
  await bench.until("shop_echo");
  const notes = async () => (await readFile(file, "utf8").catch(() => "")).split("\n");
  return { bench, notes, [Symbol.asyncDispose]: () => bench.servers.close() };
}

async function overHttp(more: Record<string, unknown> = {}): Promise<Running> {
  const server = await HttpToolServer.start();
  const bench = new McpBench({ shop: { url: server.url, ...more } });
  await bench.until("shop_echo");
  const dispose = async () => {
    await bench.servers.close();
    await server.stop();
  };
  return { bench, notes: async () => server.notes, [Symbol.asyncDispose]: dispose };
}

describe.each([
  ["stdio", overStdio],
  ["streamable HTTP", overHttp],
] as const)("over %s", (_name, start) => {
  test("all pages of the list become tools, with their descriptions, schemas and hints", async () => {
    await using running = await start();
    const { tools } = running.bench.servers;

    expect(tools.size).toBe(14);
    expect(tools.get("shop_echo")).toMatchObject({
      description: "Says the text again.",
      execution: "server",
      timeoutMs: 30_000,
      readOnly: true,
      idempotent: true,
      onInterrupt: "cancel",
      input: { jsonSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
    });
    expect(tools.get("shop_fail")).toMatchObject({ readOnly: false, idempotent: true, onInterrupt: "finish" });
    expect(tools.get("shop_throw")).toMatchObject({ readOnly: false, idempotent: false });
  });

  test("a call returns the text", async () => {
    await using running = await start();

    const answer = await running.bench.ports.run("shop_echo", { text: "hello" });

    expect(answer).toEqual({ content: "You said hello", isError: false });
  });

  test("a text with structured content is shown, too, unless it only repeats it", async () => {
    await using running = await start();
    const shown = async (text: string) => (await running.bench.ports.run("shop_structured", { text })).content;
    const structured = '{"shelves":3,"kind":"oak"}';

    expect(await shown("Say: three are free.")).toEqual([
      { type: "text", text: structured },
      { type: "text", text: "Say: three are free." },
    ]);
    for (const text of ['{\n  "shelves": 3,\n  "kind": "oak"\n}', "3", "oak", " "])
      expect(await shown(text)).toBe(structured);
  });

  test("a picture is shown to the model, an embedded text is read, and unsupported content is mentioned", async () => {
    await using running = await start();
    const { ports } = running.bench;

    const { content } = await ports.run("shop_picture");

    expect(content).toEqual([
      { type: "text", text: "A cat:" },
      { type: "image", source: { type: "media", id: ports.media[0]?.id, media_type: "image/gif", size: 42 } },
      { type: "text", text: "[image image/png 3 bytes]" },
      { type: "text", text: "[resource file:///cat.txt text/plain]\nThe cat purrs." },
      { type: "text", text: "[resource file:///dog.txt]\ndog" },
    ]);
  });

  test("bad arguments do not reach the server", async () => {
    await using running = await start();

    const answer = await running.bench.ports.run("shop_echo", { text: 5 });

    expect(answer).toEqual({ content: 'Invalid parameter "text": expected string', isError: true });
    expect(await running.notes()).not.toContain("call echo");
  });

  test("an error result and a thrown error keep the server's own words", async () => {
    await using running = await start();
    const { ports } = running.bench;

    expect(await ports.run("shop_fail")).toEqual({ content: "The shelf is empty", isError: true });
    expect(await ports.run("shop_throw")).toEqual({ content: "No such shelf", isError: true });
    expect(ports.settled.map(({ outcome }) => outcome)).toMatchObject([
      { errorCode: "execution_error" },
      { errorCode: "execution_error" },
    ]);
  });

  test("progress is written to the call's log, and is the call's own", async () => {
    await using running = await start();

    await running.bench.ports.run("shop_count");

    expect(running.bench.ports.lines).toEqual(["progress 1/2: step 1", "progress 2/2: step 2"]);
    expect(running.bench.ports.progress).toBe(1);
  });

  test("a server's form is shown to the participant of its call", async () => {
    await using running = await start();
    const { ports } = running.bench;
    const asked: unknown[] = [];
    Object.assign(ports.questions, {
      elicit: async (_call: unknown, request: unknown) => {
        asked.push(request);
        return { action: "accept", content: { size: "L", extras: ["box", "bow"] } };
      },
    });

    expect((await ports.run("shop_ask")).content).toBe(
      '{"action":"accept","content":{"size":"L","extras":["box","bow"]}}',
    );
    const extras = { type: "array", items: { type: "string", enum: ["box", "bow"] } };
    const properties = { size: { type: "string", enum: ["S", "L"] }, extras };
    expect(asked).toEqual([{ message: "Which size?", schema: { type: "object", properties } }]);
  });

  test("a server can show one form after another, but not forever", async () => {
    await using running = await start();
    const { ports } = running.bench;
    const hasSecond = () => vi.waitUntil(async () => (await running.notes()).includes("answered"), { timeout: 10_000 });
    const elicit = vi.fn<() => Promise<unknown>>(async () => {
      if (elicit.mock.calls.length === 1) await hasSecond();
      return { action: "decline" };
    });
    Object.assign(ports.questions, { elicit });

    const { content } = await ports.run("shop_besiege");
    const second: unknown = expect.stringContaining("the call already has an open form");
    expect(JSON.parse(content as string)).toEqual({ second, answers: 20 });
    expect(elicit).toHaveBeenCalledTimes(20);
  });

  test("a result in thousands of pieces is reported in a thousand of them", async () => {
    await using running = await start();

    const { content } = await running.bench.ports.run("shop_shred");
    expect((content as string).split("\n").slice(-2)).toEqual(["999", "[4000 more blocks]"]);
  });

  test("a form that may belong to another call is shown to nobody", async () => {
    await using running = await start();
    const { ports } = running.bench;
    const elicit = vi.fn<() => void>();
    Object.assign(ports.questions, { elicit });
    const waiting = ports.run("shop_wait", {}, { toolUseId: "toolu_2" });
    await vi.waitFor(async () => expect(await running.notes()).toContain("call wait"));

    const { content, isError } = await ports.run("shop_ask");
    expect([isError, content]).toEqual([true, expect.stringContaining("several calls are running")]);
    expect(elicit).not.toHaveBeenCalled();
    ports.abort("stopped");
    await waiting;
  });

  test("a stop cancels the call on the server", async () => {
    await using running = await start();
    const { ports } = running.bench;
    const answer = ports.run("shop_wait");
    await vi.waitFor(async () => expect(await running.notes()).toContain("call wait"));

    ports.abort("stopped");

    expect(await answer).toMatchObject({ isError: true });
    await vi.waitFor(async () => expect(await running.notes()).toContain("cancelled"));
  });

  test("the deadline is ours, and cancels the call on the server", async () => {
    await using running = await start({ timeoutMs: 3_000 });

    expect(await running.bench.ports.run("shop_wait")).toEqual({
      content: "Tool execution timed out after 3s",
      isError: true,
    });
    expect(running.bench.ports.settled[0]?.outcome).toMatchObject({ errorCode: "timeout" });
    await vi.waitFor(async () => expect(await running.notes()).toContain("cancelled"));
  });

  test("a response that is too large ends its call immediately, and the connection is restored", async () => {
    await using running = await start();
    const { bench } = running;

    const { content, isError } = await bench.ports.run("shop_huge");

    expect(isError).toBe(true);
    expect(content).toMatch(/disconnected during the call|invalid response/);
    await bench.until("shop_echo");
  });

  test("a call that succeeded is not cancelled afterwards", async () => {
    await using running = await start();
    const { ports } = running.bench;
    const waiting = ports.run("shop_wait");
    await ports.run("shop_echo", { text: "a" });
    await ports.run("shop_echo", { text: "b" });

    expect(await running.notes()).not.toContain("cancelled");
    ports.abort("stopped");
    await waiting;
  });

  test("changes of the list are followed", async () => {
    await using running = await start();
    const { bench } = running;

    await bench.ports.run("shop_grow");
    await bench.until("shop_extra");
    expect(await bench.ports.run("shop_extra")).toEqual({ content: "ok", isError: false });

    await bench.ports.run("shop_shrink");
    await vi.waitFor(() => expect(bench.names).not.toContain("shop_extra"), { timeout: 5_000 });
    expect(await bench.ports.run("shop_extra")).toEqual({
      content: "Tool 'shop_extra' not found",
      isError: true,
    });
  });
});

test("a process that dies during a call ends that call, calls fail immediately while it is down, and it is restarted", async () => {
  await using running = await overStdio();
  const { bench } = running;

  expect(await bench.ports.run("shop_crash")).toEqual({
    content: 'MCP server "shop" disconnected during the call; the outcome is unknown',
    isError: true,
  });
  expect(await bench.ports.run("shop_echo", { text: "x" })).toEqual({
    content: 'MCP server "shop" is not connected',
    isError: true,
  });
  expect(bench.names).toEqual([]);

  await bench.until("shop_echo");
  expect(await bench.ports.run("shop_echo", { text: "again" })).toEqual({ content: "You said again", isError: false });
  expect(bench.warnings()).toMatchObject([{ mcpServer: "shop", why: "connection lost" }]);
});

test("an HTTP server that dies during a call ends that call, is logged once, and is reconnected with a new session", async () => {
  await using server = await HttpToolServer.start();
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_echo");

  expect((await bench.ports.run("shop_crash")).content).toMatch(/disconnected during the call|could not be reached/);
  await vi.waitFor(() => expect(bench.names).toEqual([]), { timeout: 10_000 });
  expect((await bench.ports.run("shop_echo", { text: "x" })).content).toBe('MCP server "shop" is not connected');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await server.listen();

  await bench.until("shop_echo");
  expect((await bench.ports.run("shop_echo", { text: "again" })).content).toBe("You said again");
  expect(bench.warnings()).toHaveLength(1);
});

test("a restart without notice is detected by the next call", async () => {
  await using server = await HttpToolServer.start();
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_echo");
  await server.stop();
  await server.listen();

  await vi.waitFor(async () => expect((await bench.ports.run("shop_echo", { text: "x" })).content).toBe("You said x"), {
    timeout: 10_000,
    interval: 100,
  });
});

test("calls in a session that the server has lost are run in a new one, each once", async () => {
  await using server = await HttpToolServer.start();
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_echo");
  server.forget();

  const answers = await Promise.all(["a", "b"].map((text) => bench.ports.run("shop_echo", { text })));

  expect(answers.map(({ content }) => content)).toEqual(["You said a", "You said b"]);
  expect(server.notes.filter((note) => note === "call echo")).toHaveLength(2);
});

test("a call in a session that the server has lost fails immediately if the server accepts no new one", async () => {
  await using server = await HttpToolServer.start();
  await using bench = new McpBench({ shop: { url: server.url } });
  await bench.until("shop_echo");
  server.forget();
  server.isOpen = false;

  expect(await bench.ports.run("shop_echo", { text: "x" })).toEqual({
    content: 'MCP server "shop" lost the session, and reconnecting failed (HTTP 503)',
    isError: true,
  });
});

test("headers are sent with every request, and the session is ended on close", async () => {
  await using server = await HttpToolServer.start();
  const bench = new McpBench({ shop: { url: server.url, headers: { Authorization: "Bearer key" } } });
  await bench.until("shop_echo");
  await bench.servers.close();

  expect(server.headers.every((headers) => headers.authorization === "Bearer key")).toBe(true);
  expect(server.notes).toContain("delete");
});

test("a process gets the configured environment and none of ours, and ends on close", async () => {
  process.env["DATABASE_URL"] = "postgres://secret";
  const running = await overStdio({ env: { SHELF: "7" } });
  delete process.env["DATABASE_URL"];
  const [, pid = "", ...environment] = (await running.notes())[0]?.split(" ") ?? [];
  expect(environment).toEqual(["7", "-"]);
  expect(processStart(Number(pid))).toBeDefined();

  await running.bench.servers.close();

  expect(processStart(Number(pid))).toBeUndefined();
});
