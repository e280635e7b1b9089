import { expect, onTestFinished, test } from "vitest";
import { ModelError } from "../../src/llm/model-error.ts";
import { readStream } from "../../src/llm/read-stream.ts";
import { block, callBlock, messageEnd, messageStart, textBlock } from "../fixtures/model/events.ts";
import type { Json } from "../../src/model-server/step.ts";
import { cpuMs } from "../support/cpu-ms.ts";
import { blocksOf, iterate } from "./call-model.ts";

const use = (id: string) => ({ type: "tool_use", id, name: "book" });
const read = (events: readonly unknown[]) => Array.fromAsync(readStream(iterate(events)));
const readBlocks = async (...events: Json[]) =>
  blocksOf(await read([messageStart(), ...events, ...messageEnd("tool_use")]));
const readStops = async (...events: Json[]) =>
  (await read([messageStart(), ...events, ...messageEnd("tool_use")])).filter((event) => event.type === "block_stop");

test("text is emitted as it streams, and once more as a whole", async () => {
  const events = await read([messageStart(), ...textBlock(0, "Hel", "lo"), ...messageEnd("end_turn")]);

  expect(events).toEqual([
    {
      type: "message_start",
      id: "msg_01G26xZp9pkRVYFQL3gWjMMS",
      model: "claude-sonnet-5-5",
      usage: { inputTokens: 2679, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
    { type: "block_start", index: 0, blockType: "text" },
    { type: "block_delta", index: 0, delta: { type: "text", text: "Hel" } },
    { type: "block_delta", index: 0, delta: { type: "text", text: "lo" } },
    { type: "block_stop", index: 0, block: { blockType: "text", textContent: "Hello", content: null } },
    {
      type: "message_stop",
      stopReason: "end_turn",
      stopDetails: null,
      usage: { inputTokens: 2679, outputTokens: 510, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
  ]);
});

test("a later usage number replaces an earlier one", async () => {
  const end = messageEnd("end_turn", {}, { input_tokens: 9, cache_read_input_tokens: 5 });
  const events = await read([messageStart(), ...end]);

  expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 9, cacheReadTokens: 5, outputTokens: 510 } });
});

test("a tool's arguments are emitted as they are written and parsed at the end", async () => {
  const events = await read([messageStart(), ...callBlock(0, use("t1"), '{"a', '":[1,2]}'), ...messageEnd("tool_use")]);

  expect(events.slice(1, 5)).toEqual([
    { type: "block_start", index: 0, blockType: "tool_use", tool: { toolUseId: "t1", toolName: "book" } },
    { type: "block_delta", index: 0, delta: { type: "input_json", partialJson: '{"a' } },
    { type: "block_delta", index: 0, delta: { type: "input_json", partialJson: '":[1,2]}' } },
    {
      type: "block_stop",
      index: 0,
      block: {
        blockType: "tool_use",
        textContent: null,
        content: { tool_use_id: "t1", tool_name: "book", input: { a: [1, 2] } },
      },
    },
  ]);
});

test("a tool use keeps unknown fields", async () => {
  const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };
  const [stored] = await readBlocks(...callBlock(0, { ...use("t1"), caller }, "{}"));

  expect(stored?.content).toEqual({ tool_use_id: "t1", tool_name: "book", input: {}, caller });
});

test("a tool use without a delta has no arguments", async () => {
  const [stop] = await readStops(...callBlock(0, use("t1")));

  expect(stop).toMatchObject({ block: { content: { input: {} } } });
  expect(stop).not.toHaveProperty("inputError");
});

test("an empty delta adds no arguments either", async () => {
  const [stop] = await readStops(...callBlock(0, use("t1"), "", ""));

  expect(stop).toMatchObject({ block: { content: { input: {} } } });
});

test.each([
  ['{"a": "par', "The arguments are not valid JSON (at position 10)"],
  ["[1,2]", "Invalid parameters: input: expected an object"],
  ["null", "Invalid parameters: input: expected an object"],
  ['"text"', "Invalid parameters: input: expected an object"],
  ["{'secret': 1}", "The arguments are not valid JSON (at position 1)"],
  ['{"a":{"b":[0,1e999]}}', "Invalid parameters: input.a.b[1]: too large for a number, send it as a string"],
  ['{"a":[{"b":1,"b":2}]}', "Invalid parameters: input.a[0].b: the key appears twice"],
  ['{"id":9007199254740993}', "Invalid parameters: input.id: too large for a number, send it as a string"],
  [`{"a":${"[".repeat(28)}${"]".repeat(28)}}`, `Invalid parameters: input.a${"[0]".repeat(27)}: deeper than 28 levels`],
])("arguments %s are wrapped, and the error does not quote them", async (json, inputError) => {
  const [stop] = await readStops(...callBlock(0, use("t1"), json));

  expect(stop).toMatchObject({ inputError, block: { content: { input: { _raw: json } } } });
});

test("twenty thousand pieces of arguments are put together correctly", async () => {
  const json = JSON.stringify({ text: "x".repeat(59_989) });
  const pieces = json.match(/.{1,3}/g) ?? [];
  const [stored] = await readBlocks(...callBlock(0, use("t1"), ...pieces));

  expect(pieces).toHaveLength(20_000);
  expect(stored?.content?.["input"]).toEqual(JSON.parse(json));
});

test("two blocks that stream at once are not mixed up", async () => {
  const [first, second] = [callBlock(0, use("t1"), '{"n":1}'), callBlock(1, use("t2"), '{"n":2}')];
  const mixed = first.flatMap((event, index) => [event, second[index] ?? {}]);

  expect((await readBlocks(...mixed)).map(({ content }) => content?.["input"])).toEqual([{ n: 1 }, { n: 2 }]);
});

test("a second tool use with the same id is dropped with its deltas", async () => {
  const blocks = await readBlocks(...callBlock(0, use("t1"), '{"n":1}'), ...callBlock(1, use("t1"), '{"n":2}'));

  expect(blocks).toMatchObject([{ content: { tool_use_id: "t1", input: { n: 1 } } }]);
});

test("a tool use without an id or a name is dropped", async () => {
  const blocks = await readBlocks(
    ...callBlock(0, { type: "tool_use", name: "a" }, "{}"),
    ...callBlock(1, { type: "tool_use", id: "t" }),
  );

  expect(blocks).toEqual([]);
});

test("deltas and stops for blocks that are not open change nothing", async () => {
  const stray = { type: "content_block_delta", index: 7, delta: { type: "text_delta", text: "stray" } };
  const blocks = await readBlocks(
    stray,
    ...textBlock(0, "kept"),
    { type: "content_block_stop", index: 0 },
    { type: "content_block_stop", index: 9 },
  );

  expect(blocks.map(({ textContent }) => textContent)).toEqual(["kept"]);
});

test("a start at an open index closes the open block, with unusable arguments", async () => {
  const [start, delta] = callBlock(0, use("t1"), '{"n":1}');
  const stops = await readStops(start ?? {}, delta ?? {}, ...callBlock(0, use("t2"), '{"n":2}'));

  expect(stops).toMatchObject([
    { inputError: "The arguments were cut off", block: { content: { tool_use_id: "t1", input: { _raw: '{"n":1}' } } } },
    { block: { content: { tool_use_id: "t2", input: { n: 2 } } } },
  ]);
});

test("a block that is still open at message_stop is closed, with unusable arguments", async () => {
  const stops = await readStops(...callBlock(0, use("t1"), "{}").slice(0, 2));

  expect(stops).toMatchObject([{ inputError: "The arguments were cut off" }]);
});

test("unknown deltas are reported, and left out of blocks whose fields the API fixes", async () => {
  const start = { type: "text", text: "Hi" };
  const [stored] = await readBlocks(
    ...block(0, start, { type: "mood_delta", mood: "glad" }, { type: "text_delta", text: 7 }),
  );

  expect(stored).toEqual({ blockType: "text", textContent: "Hi", content: null });
});

test("an unknown block is kept whole, including its deltas", async () => {
  const start = { type: "compaction", content: "", parts: [1] };
  const [stored] = await readBlocks(
    ...block(
      0,
      start,
      { type: "compaction_delta", content: "a" },
      { type: "compaction_delta", content: "b", parts: [2], note: 1 },
    ),
  );

  expect(stored).toEqual({
    blockType: "compaction",
    textContent: null,
    content: { type: "compaction", content: "ab", parts: [1, 2], note: 1 },
  });
});

test("a long delta is split into pieces, between which other work runs, and no character is cut", async () => {
  const word = "\u{1f600}".repeat(50_000);
  let turns = 0;
  let next: NodeJS.Immediate;
  // Counts turns of the event loop. A timer would need a millisecond for each turn, but a fast machine may read the
  // whole stream in less than that.
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  turn();
  onTestFinished(() => clearImmediate(next));
  const events = [messageStart(), ...textBlock(0, word), ...callBlock(1, use("t1"), `{"a":"${word}"}`)];
  const seen: string[] = [];
  for await (const event of readStream(iterate([...events, ...messageEnd("tool_use")]))) {
    if (event.type !== "block_delta" || event.delta.type === "other") continue;
    seen.push("text" in event.delta ? event.delta.text : event.delta.partialJson);
  }

  expect(seen.join("")).toBe(`${word}{"a":"${word}"}`);
  expect(seen.every((piece) => piece.length <= 16_384 && piece.isWellFormed())).toBe(true);
  expect(turns).toBeGreaterThan(seen.length / 2);
});

test("a message with more than 2 Mi characters in its deltas fails", async () => {
  const deltas = Array.from({ length: 3 }, () => "x".repeat(1024 * 1024));
  const blocks = read([messageStart(), ...textBlock(0, ...deltas), ...messageEnd("end_turn")]);

  await expect(blocks).rejects.toMatchObject({ kind: "endless_stream" });
});

test("a message of a million empty blocks fails, and is not read to its end", async () => {
  let started = 0;
  async function* endless() {
    yield messageStart();
    for (; started < 1_000_000; started++) yield* textBlock(started);
    yield* messageEnd("end_turn");
  }

  await expect(Array.fromAsync(readStream(endless()))).rejects.toMatchObject({ kind: "endless_stream" });
  expect(started).toBe(2_000);
});

test.each([
  ["citations", { type: "text", text: "" }, { type: "citations_delta", citation: 1 }],
  ["parts", { type: "future_block", parts: [] }, { type: "future_delta", parts: [1] }],
])("a block that grows by many %s costs about as much as one that grows by words", async (list, start, delta) => {
  const many = <Item>(item: Item) => Array.from({ length: 60_000 }, () => item);
  const words = await cpuOf(() =>
    readBlocks(...block(0, { type: "text" }, ...many({ type: "text_delta", text: "a" }))),
  );
  const items = await cpuOf(() => readBlocks(...block(0, start, ...many(delta))));

  expect(items.result[0]?.content?.[list]).toEqual(many(1));
  expect(items.cpuMs).toBeLessThan(5 * words.cpuMs);
});

async function cpuOf<Result>(work: () => Promise<Result>): Promise<{ cpuMs: number; result: Result }> {
  const before = cpuMs();
  const result = await work();
  return { cpuMs: cpuMs() - before, result };
}

test("an MCP call and its result keep their own types", async () => {
  const call = { type: "mcp_tool_use", id: "mcptoolu_1", name: "echo", server_name: "s" };
  const result = { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [] };
  const blocks = await readBlocks(...callBlock(0, call, '{"a":1}'), ...block(1, result));

  expect(blocks).toMatchObject([
    { blockType: "mcp_tool_use", content: { ...call, input: { a: 1 } } },
    { blockType: "mcp_tool_result", content: result },
  ]);
});

test("thinking keeps its signature", async () => {
  const start = { type: "thinking", thinking: "", signature: "" };
  const deltas = [
    { type: "thinking_delta", thinking: "Hm" },
    { type: "signature_delta", signature: "sig" },
  ];
  const [stored] = await readBlocks(...block(0, start, ...deltas));

  expect(stored).toEqual({ blockType: "thinking", textContent: "Hm", content: { signature: "sig" } });
});

test.each([
  [[]],
  [[messageStart()]],
  [[messageStart(), ...textBlock(0, "cut")]],
  [[messageStart(), { type: "message_stop" }]],
])("an incomplete stream throws broken_stream (%#)", async (events) => {
  await expect(read(events)).rejects.toMatchObject({ kind: "broken_stream", code: "unavailable", retryable: true });
});

test("an error event throws the error it contains", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };

  await expect(read([messageStart(), error])).rejects.toMatchObject({ kind: "overloaded", retryable: true });
});

test("an error event of an unknown type is a broken stream", async () => {
  await expect(read([{ type: "error" }])).rejects.toThrow(ModelError);
});

test("everything after message_stop is ignored, including errors", async () => {
  async function* events() {
    yield* [messageStart(), ...messageEnd("end_turn"), ...textBlock(0, "late")];
    throw new Error("reset");
  }

  expect((await Array.fromAsync(readStream(events()))).map(({ type }) => type)).toEqual([
    "message_start",
    "message_stop",
  ]);
});

test.each([
  null,
  7,
  "text",
  [],
  {},
  { type: "content_block_start", index: 0 },
  { type: "content_block_start", content_block: {} },
  { type: "content_block_delta", index: 0 },
  { type: "future" },
])("an event with another shape is ignored (%j)", async (event) => {
  const events = await read([event, messageStart(), event, ...textBlock(0, "fine"), event, ...messageEnd("end_turn")]);

  expect(blocksOf(events)).toMatchObject([{ textContent: "fine" }]);
});
