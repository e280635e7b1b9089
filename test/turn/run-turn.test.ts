import { expect, test } from "vitest";
import { TurnAbort } from "../../src/conversation/turn-abort.ts";
import { AppError } from "../../src/errors/app-error.ts";
import { ModelError } from "../../src/llm/model-error.ts";
import { toMessages } from "../../src/llm/to-messages.ts";
import { IssuedContent } from "../../src/model-server/issued-content.ts";
import { validateMessages } from "../../src/model-server/validate-messages.ts";
import { placed, turn } from "../conversation/arbitrary-turns.ts";
import {
  begin,
  fail,
  half,
  MemoryTurn,
  other,
  search,
  stop,
  text,
  thinking,
  USAGE,
  use,
  type Call,
  type Setup,
} from "./memory-turn.ts";

const done: Call = [...text("Done."), ...stop("end_turn")];
const sequencesOf = (memory: MemoryTurn) => memory.stored.map(({ sequence }) => sequence);
/** The last message in the request of one model call, as `role: texts and types`. */
const lastSent = (memory: MemoryTurn, call: number) => {
  const message = memory.requests[call]?.history.at(-1);
  return `${message?.role}: ${message?.blocks.map(({ textContent, blockType }) => textContent ?? blockType).join(", ")}`;
};
const CONTINUE = "user: [Your reply was cut off by its length limit. Continue exactly where it stopped.]";

/** Checks what must be true for every turn, however it ends. */
function expectSound(memory: MemoryTurn): void {
  const types = memory.events.map(({ type }) => type);
  expect([types[0], types.at(-1)]).toEqual(["turn_start", "turn_complete"]);
  expect(types.filter((type) => type === "turn_complete")).toHaveLength(1);
  expect(sequencesOf(memory)).toEqual(memory.stored.map((_, index) => index));
  const stops = memory.events.flatMap((event) => (event.type === "block_stop" ? event.block : []));
  expect(stops).toEqual(memory.stored);
  const idsOf = (type: string) =>
    memory.stored.filter(({ blockType }) => blockType === type).map(({ content }) => content?.["tool_use_id"]);
  expect(idsOf("tool_result")).toEqual(idsOf("tool_use"));
  const issued = new IssuedContent();
  for (const { history } of memory.requests) {
    const messages = toMessages(history) as never;
    const problems = [...validateMessages({ messages, tools: [{ name: "ok" }] }, issued)];
    expect(problems.filter((problem) => !/signature|prefill|pending call/.test(problem))).toEqual([]);
  }
}
async function run(setup: Setup): Promise<MemoryTurn> {
  const memory = await MemoryTurn.run(setup);
  expectSound(memory);
  return memory;
}

test("an answer without tools ends the turn after one call", async () => {
  const memory = await run({ calls: [[begin, ...thinking("Hm"), ...text("Hello."), ...stop("end_turn")]] });

  expect(memory.end).toEqual({
    type: "turn_complete",
    state: "completed",
    error: undefined,
    stopReason: "end_turn",
    usage: USAGE,
  });
  expect(memory.outline).toEqual(["thinking Hm", "text Hello."]);
});

test.each(["stop_sequence", "refusal", "a_reason_of_the_future"])("%s ends the turn, and is stored", async (reason) => {
  const memory = await run({ calls: [[...text("No."), ...stop(reason)]] });

  expect([memory.end.state, memory.end.stopReason, memory.requests.length]).toEqual(["completed", reason, 1]);
});

test("a tool use is answered and the model is called again with the result", async () => {
  const memory = await run({ calls: [[...text("I look."), ...use("ok", "t1"), ...stop("tool_use")], done] });

  expect(memory.outline).toEqual(["text I look.", "tool_use t1", "tool_result t1: ok t1", "text Done."]);
  expect(memory.end.usage).toEqual({ inputTokens: 20, outputTokens: 10, cacheReadTokens: 4, cacheWriteTokens: 2 });
  expect(lastSent(memory, 1)).toBe("user: tool_result");
});

test("a tool_use stop without any tool use ends the turn", async () => {
  expect((await run({ calls: [[...text("Well."), ...stop("tool_use")]] })).end.state).toBe("completed");
});

test("max_tokens is continued once, with a user message, and the second time ends the turn", async () => {
  const memory = await run({
    calls: [
      [...text("One"), ...stop("max_tokens")],
      [...text("two"), ...stop("max_tokens")],
    ],
  });

  expect(lastSent(memory, 1)).toBe(CONTINUE);
  expect([memory.end.state, memory.end.stopReason, memory.requests.length]).toEqual(["completed", "max_tokens", 2]);
});

test("max_tokens inside a tool call runs no tool, not even a complete earlier one", async () => {
  const memory = await run({
    calls: [[...use("ok", "t1"), ...half("tool_use"), ...stop("max_tokens")], done],
  });

  expect([memory.started, memory.refused]).toEqual([
    [],
    [{ id: "t1", why: "Not run: the reply was cut off (max_tokens)" }],
  ]);
  expect(memory.end.state).toBe("completed");
});

test("max_tokens in the middle of thinking is retried from the same message", async () => {
  const memory = await run({ calls: [[...thinking("Hm", ""), ...stop("max_tokens")], done] });

  expect(lastSent(memory, 1)).toBe("user: Go");
});

test("after max_tokens following a server tool's call, half of its pair is not sent", async () => {
  const memory = await run({ calls: [[...text("I search"), ...search("srvtoolu_1"), ...stop("max_tokens")], done] });

  expect(memory.requests[1]?.history.map(({ blocks }) => blocks.map(({ blockType }) => blockType))).toEqual([
    ["text"],
    ["text"],
    ["text"],
  ]);
});

test("pause_turn is sent back unchanged, five times", async () => {
  const pause = (id: number): Call => [...text(`Part ${id}.`), ...search(`srvtoolu_${id}`), ...stop("pause_turn")];
  const memory = await run({ calls: [1, 2, 3, 4, 5, 6, 7].map(pause) });

  expect(memory.requests).toHaveLength(6);
  expect(memory.requests[1]?.history.at(-1)).toMatchObject({
    role: "assistant",
    blocks: [{ textContent: "Part 1." }, { blockType: "server_tool_use" }],
  });
  expect([memory.end.state, memory.end.stopReason]).toEqual(["completed", "pause_turn"]);
});

test("for a full context window the older half of the turns is left out, then the rest, and then the turn fails", async () => {
  const past = [1, 2, 3].map((position) =>
    turn(position, "completed", {
      input: [{ type: "text", text: `q${position}` }],
      blocks: placed([{ blockType: "text", textContent: `a${position}`, content: null }]),
    }),
  );
  const full = stop("model_context_window_exceeded");
  const memory = await run({ past, calls: [full, full, full] });

  const questions = memory.requests.map(({ history }) => history[0]?.blocks.at(-1)?.textContent);
  expect(questions).toEqual(["q1", "q3", "Go"]);
  expect(memory.end.stopReason).toBe("model_context_window_exceeded");
});

test("the step limit leads to one call without tools", async () => {
  const again = (id: string): Call => [...use("ok", id), ...stop("tool_use")];
  const memory = await run({ maxSteps: 2, calls: [again("t1"), again("t2"), done] });

  expect(memory.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "auto", "none"]);
  expect(memory.end.stopReason).toBe("end_turn");
});

test("a model that calls tools even in its last call is refused, which ends the turn", async () => {
  const again = (id: string): Call => [...use("ok", id), ...stop("tool_use")];
  const memory = await run({ maxSteps: 1, calls: [again("t1"), again("t2")] });

  expect([memory.started, memory.refused.length, memory.end.stopReason]).toEqual([["t1"], 1, "step_limit"]);
});

test("a read-only tool starts when its block ends, any other after message_stop", async () => {
  const seen: string[][] = [];
  const look = (memory: { started: string[] }) => () => seen.push([...memory.started]);
  const shared = { started: [] as string[] };
  const tools = {
    read: ({ toolUseId }: { toolUseId: string }) => (shared.started.push(toolUseId), { content: "r", isError: false }),
    write: ({ toolUseId }: { toolUseId: string }) => (shared.started.push(toolUseId), { content: "w", isError: false }),
  };
  await run({
    tools,
    calls: [[...use("write", "t1"), ...use("read", "t2"), ...text("…"), look(shared), ...stop("tool_use")], done],
  });

  expect([seen, shared.started]).toEqual([[["t2"]], ["t2", "t1"]]);
});

test("an early result of a read-only tool is discarded when the step fails, with a record", async () => {
  const broken = fail(new AppError("unavailable", "The stream broke"));
  const memory = await run({
    tools: { read: () => ({ content: "found", isError: false }) },
    calls: [[...use("read", "t1"), broken]],
  });

  expect(memory.outline).toEqual([
    "tool_use t1",
    "tool_result t1: Result discarded: the reply failed before it was complete",
  ]);
  expect([memory.end.state, memory.end.error?.code]).toEqual(["failed", "unavailable"]);
});

test("a tool use with broken arguments never starts early", async () => {
  const started: string[] = [];
  const read = ({ toolUseId }: { toolUseId: string }) => (started.push(toolUseId), { content: "", isError: true });
  await run({ tools: { read }, calls: [[...use("read", "t1", "not JSON"), fail(new Error("gone"))]] });

  expect(started).toEqual([]);
});

test("eight tools in one response, some of them failing, are answered in one message in call order", async () => {
  const slowest = (ms: number) => () =>
    new Promise<{ content: string; isError: boolean }>((resolve) =>
      setTimeout(() => resolve({ content: `${ms}`, isError: ms % 2 === 1 }), ms),
    );
  const tools = Object.fromEntries([8, 7, 6, 5, 4, 3, 2, 1].map((ms) => [`wait${ms}`, slowest(ms)]));
  const uses = Object.keys(tools).flatMap((name, index) => use(name, `t${index}`));
  const memory = await run({ tools, calls: [[...uses, ...stop("tool_use")], done] });

  const results = memory.requests[1]?.history.at(-1)?.blocks;
  expect(results?.map(({ content }) => content?.["tool_use_id"])).toEqual([
    "t0",
    "t1",
    "t2",
    "t3",
    "t4",
    "t5",
    "t6",
    "t7",
  ]);
  expect(memory.requests).toHaveLength(2);
});

test("a tool use id that was used earlier in the conversation is renamed, in its block and for its call", async () => {
  const past = [
    turn(1, "completed", {
      blocks: placed([{ blockType: "tool_use", textContent: null, content: { tool_use_id: "t1", tool_name: "ok" } }]),
    }),
  ];
  const memory = await run({
    past,
    calls: [[...use("ok", "t1"), ...stop("tool_use")], [...use("ok", "t1"), ...stop("tool_use")], done],
  });

  expect(new Set(memory.started).size).toBe(2);
  expect(memory.started).not.toContain("t1");
  expect(memory.events.flatMap((event) => (event.type === "block_start" ? (event.tool?.toolUseId ?? []) : []))).toEqual(
    memory.started.flatMap((id) => [id, id]),
  );
});

test("unknown blocks are kept and change nothing", async () => {
  const memory = await run({ calls: [[...other("future_block"), ...text("Hi"), ...stop("end_turn")]] });

  expect(memory.outline).toEqual(["future_block", "text Hi"]);
});

test("a stream that breaks fails the turn, keeps the text so far and counts the tokens known so far", async () => {
  const memory = await run({
    calls: [[begin, ...half("text", "Half a sen"), fail(new AppError("unavailable", "gone"))]],
  });

  expect(memory.outline).toEqual(["text Half a sen"]);
  expect(memory.end).toMatchObject({
    state: "failed",
    error: { code: "unavailable" },
    usage: { inputTokens: 10, outputTokens: 1 },
  });
});

test("a stream that breaks inside a tool use leaves no trace of the tool use", async () => {
  const memory = await run({ calls: [[...text("So"), ...half("tool_use"), fail(new Error("gone"))]] });

  expect([memory.outline, memory.end.error?.code]).toEqual([["text So"], "internal"]);
});

test("deltas and stops for blocks that never started are ignored", async () => {
  const stray = [
    { type: "block_delta", index: 99_999, delta: { type: "text", text: "?" } },
    { type: "block_stop", index: 99_999, block: { blockType: "text", textContent: "?", content: null } },
  ] as const;
  expect((await run({ calls: [[...stray, ...done]] })).outline).toEqual(["text Done."]);
});

test("when the record fails the turn fails, and the model is not called again", async () => {
  const lost = new AppError("unavailable", "The database is down");
  const memory = await run({
    durable: () => Promise.reject(lost),
    calls: [[...use("ok", "t1"), ...stop("tool_use")], done],
  });

  expect([memory.end.state, memory.end.error, memory.requests.length]).toEqual(["failed", lost, 1]);
});

test("calls that cannot be stored fail the turn, and each still has its result", async () => {
  const lost = new AppError("unavailable", "The database is down");
  const tools = { unstored: () => Promise.reject(lost) };
  const memory = await run({
    tools,
    calls: [[...use("unstored", "t1"), ...use("ok", "t2"), ...use("unstored", "t3"), ...stop("tool_use")]],
  });

  expect(memory.end).toMatchObject({ state: "failed", error: lost });
  expect(memory.outline.slice(3)).toEqual([
    "tool_result t1: Not run: the call could not be stored.",
    "tool_result t2: ok t2",
    "tool_result t3: Not run: the call could not be stored.",
  ]);
});

test.each<[string, Partial<Setup>]>([
  [
    "the tool runner throws",
    {
      more: { tools: { run: fail(new TypeError("bug")), refuse: fail(new TypeError("bug")), startsEarly: () => true } },
    },
  ],
  ["opening the stream throws", { more: { openStream: fail(new TypeError("bug")) } }],
  ["the record throws", { more: { record: { add: fail(new TypeError("bug")), durable: () => Promise.resolve() } } }],
  [
    "the early check throws",
    { more: { tools: { run: fail(0), refuse: fail(new TypeError("bug")), startsEarly: fail(new TypeError("bug")) } } },
  ],
])("when %s, the turn fails and its end says so", async (_, broken) => {
  const memory = await MemoryTurn.run({ calls: [[...use("read", "t1"), ...stop("tool_use")]], ...broken });

  expect(memory.end).toMatchObject({ state: "failed", error: { code: "internal", message: "Internal error" } });
  expect(memory.events.filter(({ type }) => type === "turn_complete")).toHaveLength(1);
});

const interrupt = new TurnAbort("interrupted");

test.each([
  ["interrupted", "interrupted", undefined],
  ["stopped", "cancelled", undefined],
  ["closed", "failed", "unavailable"],
] as const)("a turn that is %s ends as %s", async (kind, state, code) => {
  const memory = await run({
    calls: [done],
    onEvent: ({ type }, abort) => type === "turn_start" && abort(new TurnAbort(kind)),
  });

  expect([memory.end.state, memory.end.error?.code]).toEqual([state, code]);
});

test("an interruption while the model is speaking keeps what was said and runs no tool", async () => {
  const memory = await run({
    calls: [[...use("ok", "t1"), ...half("text", "I will now"), ...text("never seen"), ...stop("tool_use")]],
    onEvent: (event, abort) => event.type === "block_delta" && abort(interrupt),
  });

  expect(memory.outline).toEqual([
    "tool_use t1",
    "text I will now",
    "tool_result t1: Not run: the reply was interrupted",
  ]);
  expect([memory.started, memory.end.state]).toEqual([[], "interrupted"]);
});

test("an interruption while tools are running keeps the results so far", async () => {
  const memory = new Promise<MemoryTurn>((resolve) => {
    const abortSoon = (abort: () => void) => setTimeout(abort, 5);
    void run({
      calls: [[...use("ok", "t1"), ...use("waits", "t2"), ...stop("tool_use")], done],
      onEvent: (event, abort) => event.type === "usage" && abortSoon(() => abort(interrupt)),
    }).then(resolve);
  });

  expect((await memory).outline.slice(2)).toEqual(["tool_result t1: ok t1", "tool_result t2: Cancelled"]);
  expect((await memory).end.state).toBe("interrupted");
});

test("an interruption once the results have arrived keeps them without another model call", async () => {
  const memory = await run({
    calls: [[...use("ok", "t1"), ...stop("tool_use")], done],
    onEvent: (event, abort) =>
      event.type === "block_stop" && event.block.blockType === "tool_result" && abort(interrupt),
  });

  expect(memory.outline).toEqual(["tool_use t1", "tool_result t1: ok t1"]);
  expect([memory.requests.length, memory.end.state]).toEqual([1, "interrupted"]);
});

test("an interruption while the model continues after the results keeps the previous step", async () => {
  const memory = await run({
    calls: [
      [...use("ok", "t1"), ...stop("tool_use")],
      [...half("text", "So it"), ...text("never seen")],
    ],
    onEvent: (event, abort) => event.type === "block_delta" && event.delta.type === "text" && abort(interrupt),
  });

  expect(memory.outline).toEqual(["tool_use t1", "tool_result t1: ok t1", "text So it"]);
});

test("no listener is left on the turn's signal", async () => {
  const memory = await run({ calls: [[...use("ok", "t1"), ...stop("tool_use")], done] });

  expect(memory.listenerCount).toBe(0);
});

test("a resumed turn first gets its missing results, and continues after its last block", async () => {
  const blocks = placed([
    { blockType: "text", textContent: "I look.", content: null },
    { blockType: "tool_use", textContent: null, content: { tool_use_id: "t1", tool_name: "ok", input: {} } },
    { blockType: "tool_use", textContent: null, content: { tool_use_id: "t2", tool_name: "ok", input: { _raw: "{" } } },
  ]);
  const resumed: unknown[] = [];
  const resume = async (each: { toolUseId: string; inputError?: string }) => {
    resumed.push([each.toolUseId, each.inputError]);
    return { content: "late", isError: false };
  };
  const memory = await MemoryTurn.run({ blocks, calls: [done], more: { resume } });

  expect(resumed).toEqual([
    ["t1", undefined],
    ["t2", "The arguments are not a JSON object"],
  ]);
  expect(sequencesOf(memory)).toEqual([3, 4, 5]);
  expect(lastSent(memory, 0)).toBe("user: tool_result, tool_result");
});

test("a picture that the API refuses costs the turn one more call, but not its answer", async () => {
  const source = { type: "media", id: "m1", media_type: "image/png", size: 70 };
  const look = () => ({ content: [{ type: "image", source }], isError: false });
  const memory = await run({
    calls: [
      [begin, ...use("look", "toolu_1"), ...stop("tool_use")],
      [fail(new ModelError("refused_media", { status: 400 }))],
      done,
    ],
    tools: { look },
  });

  expect(memory.end.state).toBe("completed");
  const results = memory.requests.map(({ history }) => history.at(-1)?.blocks[0]?.content?.["content"]);
  expect(results.slice(1)).toEqual([[{ type: "image", source }], "[image/png, 1 kB, no longer shown]"]);
});
