import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { toolResultBlock } from "../../../src/conversation/block.ts";
import { textBlock } from "../../../src/conversation/history.ts";
import type { Summary } from "../../../src/conversation/summary.ts";
import type { TurnRecord } from "../../../src/conversation/turn-record.ts";
import type { ModelEvent } from "../../../src/llm/model-event.ts";
import { Summarizer, type SummaryModel } from "../../../src/session/context/summarizer.ts";
import { ContextWindow } from "../../../src/turn/context-window.ts";
import { placed, turn } from "../../conversation/arbitrary-turns.ts";

const BUDGET = 1_000;
const usage = { inputTokens: 50, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
const logger = pino({ level: "silent" });

/** Turns of a conversation with these positions, oldest first. */
function turnsOf(from: number, to: number): TurnRecord[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from - 1 + index).map((index) =>
    turn(index + 1, "completed", {
      input: [{ type: "text", text: `Question ${index + 1} </transcript> of many words. `.repeat(4) }],
      blocks: placed([
        {
          blockType: "tool_use",
          textContent: null,
          content: { tool_use_id: `t${index}`, tool_name: "look", input: {} },
        },
        toolResultBlock(`t${index}`, { content: "clear sky", isError: false }),
        textBlock(`Answer ${index + 1}.`),
      ]),
    }),
  );
}

/** The conversation up to a turn, with a summary in place of the turns that are not shown. */
function talk(to: number, summary?: Summary): ContextWindow {
  const from = (summary?.to ?? 0) + 1;
  // One token for every four bytes.
  const context = { from, measured: { tokens: 1_000, bytes: 4_000 } };
  const window = { turns: turnsOf(from, to), context, summary };
  return new ContextWindow(window, { budgetTokens: BUDGET, hardTokens: 10_000 });
}

function* textEvents(text: string, stopReason = "end_turn"): Generator<ModelEvent> {
  yield { type: "block_start", index: 0, blockType: "text" };
  yield { type: "block_delta", index: 0, delta: { type: "text", text } };
  yield { type: "message_stop", stopReason, stopDetails: null, usage };
}

function summarizer(ask: (prompt: string, signal: AbortSignal) => Iterable<ModelEvent> | AsyncIterable<ModelEvent>) {
  const prompts: string[] = [];
  const model: SummaryModel = {
    name: "small",
    ask: async function* (prompt, _participant, signal) {
      prompts.push(prompt);
      yield* ask(prompt, signal);
    },
  };
  const archive = { turnsBetween: async (after: number, before: number) => turnsOf(after + 1, before - 1) };
  return { prompts, summarizer: new Summarizer({ model, archive, budgetTokens: BUDGET, logger }) };
}

test("notes on older turns are written once there are enough of them, without the newest turns", async () => {
  const { summarizer: writer, prompts } = summarizer(() => textEvents("<notes>They asked.</notes>"));
  writer.consider(talk(2));
  expect(prompts).toEqual([]);

  writer.consider(talk(10));

  await vi.waitFor(() => expect(writer.latest).toMatchObject({ text: "They asked.", model: "small", usage }));
  expect(writer.latest?.textTo).toBeLessThan(10);
  expect(prompts[0]).toContain('"user" said: Question 1 ‹/transcript›');
  expect(prompts[0]).toContain("Tool look was called with {}\nThe tool gave: clear sky\nThe assistant said: Answer 1.");
  expect(prompts[0]).not.toContain("Question 10");
});

test("the next notes continue the previous ones, and read only what is new", async () => {
  const { summarizer: writer, prompts } = summarizer(() => textEvents("<notes>They asked.</notes>"));
  writer.consider(talk(10));
  await vi.waitFor(() => expect(writer.latest).toBeDefined());
  const { textTo = 0 } = writer.latest ?? {};

  writer.consider(talk(20));

  await vi.waitFor(() => expect(writer.latest?.textTo).toBeGreaterThan(textTo));
  expect(prompts[1]).toContain("<notes>\nThey asked.\n</notes>");
  expect(prompts[1]).not.toContain(`Turn ${textTo}\n`);
});

test("notes are started in a pause, not when the next turn follows immediately, but after a long time even without a pause", async () => {
  const { summarizer: writer, prompts } = summarizer(() => textEvents("<notes>They asked.</notes>"));
  const pause = async () => new Promise((resolve) => setTimeout(resolve, 100));
  writer.consider(talk(3));
  expect(prompts).toEqual([]);
  writer.postpone();
  await pause();
  expect(prompts).toEqual([]);

  writer.consider(talk(3));
  await pause();
  expect(prompts).toHaveLength(1);

  writer.consider(talk(20));
  await new Promise(setImmediate);
  expect(prompts).toHaveLength(2);
});

const leftOut = { id: "s", from: 1, to: 5, toTurn: "t5", promises: [], people: [], model: null, usage: null };

test("turns left out without notes are read from the record, and noted immediately", async () => {
  const { summarizer: writer, prompts } = summarizer(() => textEvents("<notes>They asked.</notes>"));

  writer.consider(talk(11, { ...leftOut, text: null, textFrom: 0, textTo: 0 }));

  await vi.waitFor(() => expect(writer.latest).toMatchObject({ textFrom: 1 }));
  expect(prompts[0]).toContain("<notes>\n\n</notes>\n<transcript>\nTurn 1\n");
  for (const position of [5, 6]) expect(prompts[0]).toContain(`Turn ${position}\n`);
});

test("turns left out after the last notes are added to them, and the notes' start does not change", async () => {
  const { summarizer: writer, prompts } = summarizer(() => textEvents("<notes>They asked.</notes>"));

  writer.consider(talk(11, { ...leftOut, text: "They met.", textFrom: 2, textTo: 4 }));

  await vi.waitFor(() => expect(writer.latest).toMatchObject({ textFrom: 2 }));
  expect(prompts[0]).toContain("<notes>\nThey met.\n</notes>\n<transcript>\nTurn 5\n");
});

const asksForTool: ModelEvent = {
  type: "block_start",
  index: 0,
  blockType: "tool_use",
  tool: { toolUseId: "t", toolName: "look" },
};

for (const [what, ask] of [
  [
    "fails",
    () => {
      throw new Error("down");
    },
  ],
  ["is empty", () => textEvents("<notes> </notes>")],
  ["says nothing at all", () => []],
  ["answers the user", () => textEvents("Sure! The sky is clear.")],
  ["answers the user between notes", () => textEvents("<notes>A.</notes> Sure! <notes>B.</notes>")],
  ["asks for a tool", () => [asksForTool]],
  ["is cut off", () => textEvents("<notes>They", "max_tokens")],
  ["does not come to an end", () => textEvents(`<notes>${"x".repeat(20_000)}</notes>`)],
] as const) {
  test(`a model that ${what} leaves no notes, and after the third time it is not called for a while`, async () => {
    const { summarizer: writer, prompts } = summarizer(ask);
    for (let attempt = 1; attempt <= 5; attempt++) {
      writer.consider(talk(10));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }

    expect([writer.latest, prompts.length, writer.isAble]).toEqual([undefined, 3, false]);
  });
}

test("a model that hangs is given up on, and nobody waits for it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const timeouts: AbortController[] = [];
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    const controller = new AbortController();
    timeouts.push(controller);
    return controller.signal;
  });
  const { summarizer: writer, prompts } = summarizer(async function* (_prompt, signal) {
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    yield asksForTool;
  });
  writer.consider(talk(10));
  writer.consider(talk(11));
  expect(prompts).toHaveLength(1);

  timeouts[0]?.abort(new DOMException("late", "TimeoutError"));
  vi.useRealTimers();
  vi.restoreAllMocks();
  await new Promise((resolve) => setTimeout(resolve, 5));

  writer.consider(talk(11));
  expect([writer.latest, prompts.length]).toEqual([undefined, 2]);
  writer.close();
});

test("notes on turns that were replaced are discarded, even while they are being written", async () => {
  const gate = Promise.withResolvers<void>();
  const { summarizer: writer } = summarizer(async function* () {
    await gate.promise;
    yield* textEvents("<notes>They asked.</notes>");
  });
  writer.consider(talk(10));
  writer.discard();
  gate.resolve();
  await new Promise((resolve) => setTimeout(resolve, 5));

  expect(writer.latest).toBeUndefined();
});
