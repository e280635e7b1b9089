import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { watchStream } from "../../src/llm/watch-stream.ts";
import { toSse } from "../../src/model-server/write-events.ts";
import { callModel, user } from "./call-model.ts";

const MB = 1024 * 1024;
const delta = (fields: object) => toSse({ type: "content_block_delta", index: 0, delta: fields });
const block = (start: object) => toSse({ type: "content_block_start", index: 0, content_block: start });

/** Answers each request with `begin`, then repeats `piece` until the reader has disconnected. */
async function startEndless({ status = 200, begin = "", piece }: { status?: number; begin?: string; piece: string }) {
  const sent = { bytes: 0 };
  const bytes = Buffer.from(piece.repeat(Math.ceil(MB / piece.length)));
  function* write() {
    yield Buffer.from(begin);
    for (;;) {
      sent.bytes += bytes.length;
      yield bytes;
    }
  }
  const server = createServer((_request, response) => {
    response.writeHead(status, { "content-type": status === 200 ? "text/event-stream" : "application/json" });
    Readable.from(write()).pipe(response);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  onTestFinished(() => server.closeAllConnections());
  await once(server, "listening");
  return { sent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const text = block({ type: "text", text: "" });
const call = block({ type: "tool_use", id: "toolu_1", name: "book", input: {} });

test.each([
  ["text", { begin: text, piece: delta({ type: "text_delta", text: "word ".repeat(10_000) }) }],
  [
    "thinking",
    { begin: block({ type: "thinking" }), piece: delta({ type: "thinking_delta", thinking: "x".repeat(900) }) },
  ],
  ["arguments", { begin: call, piece: delta({ type: "input_json_delta", partial_json: "[".repeat(50_000) }) }],
  ["pings", { begin: text, piece: toSse({ type: "ping" }) }],
  ["one event", { begin: `${text}event: content_block_delta\ndata: `, piece: "x" }],
])("an answer of endless %s fails at 32 MiB, and is not requested again", async (_what, answer) => {
  const { url, sent } = await startEndless(answer);

  await expect(callModel(url, [user("Hi")])).rejects.toMatchObject({ kind: "endless_stream", code: "unavailable" });
  expect(sent.bytes).toBeLessThan(64 * MB);
});

test("the endless body of an error is read up to 32 MiB", async () => {
  const { url, sent } = await startEndless({ status: 500, piece: "x" });
  const answer = callModel(url, [user("Hi")], { options: { maxRetries: 0 } });

  await expect(answer).rejects.toMatchObject({ kind: "server_error" });
  expect(sent.bytes).toBeLessThan(64 * MB);
});

test("an answer that continues slowly ends at the time limit for the whole call", async () => {
  async function* trickle() {
    for (;;) {
      await sleep(10);
      yield { type: "content_block_delta" };
    }
  }
  const limits = { idleTimeoutMs: 10_000, quietTimeoutMs: 10_000, maxDurationMs: 100 };
  async function* untilAborted(signal: AbortSignal) {
    for await (const event of trickle()) {
      if (signal.aborted) return;
      yield event;
    }
  }
  const events = watchStream(async (signal) => untilAborted(signal), limits, new AbortController().signal);

  await expect(Array.fromAsync(events)).rejects.toMatchObject({ kind: "endless_stream" });
});
