import fc from "fast-check";
import { expect, test } from "vitest";
import type { TurnBlock } from "../../src/conversation/block.ts";
import { buildHistory, type HistoryMessage } from "../../src/conversation/history.ts";
import { shortenTurn } from "../../src/conversation/shorten.ts";
import type { TurnRecord } from "../../src/conversation/turn-record.ts";
import { AppError } from "../../src/errors/app-error.ts";
import { toMessages } from "../../src/llm/to-messages.ts";
import { ContextWindow } from "../../src/turn/context-window.ts";
import { turn, turns } from "../conversation/arbitrary-turns.ts";
import { problemsOf } from "../conversation/history-problems.ts";
import { propertyRuns, propertySeed } from "../support/property-runs.ts";

const SEED = { seed: propertySeed(20_261_122), numRuns: propertyRuns(2_000) };
const blocksOf = (records: readonly TurnRecord[]) => records.flatMap(({ blocks }) => blocks);
const next = (position: number) => turn(position, "running", { input: [{ type: "text", text: "Go on" }] });

/** Turns with results that are long enough to be shortened. */
const long = turns.map((records) =>
  records.map((record) => ({ ...record, blocks: record.blocks.map((block) => lengthened(block)) })),
);

function lengthened(block: TurnBlock): TurnBlock {
  const content = block.content?.["content"];
  if (block.blockType !== "tool_result" || typeof content !== "string") return block;
  return { ...block, content: { ...block.content, content: `${content}${"x".repeat(2_000)}` } };
}

test("wherever a conversation is cut at a turn's end and earlier results are shortened, the API accepts it", () => {
  fc.assert(
    fc.property(long, fc.nat(6), fc.record({ position: fc.nat(5), sequence: fc.nat(12) }), (past, first, place) => {
      const window = past.slice(first).map((record) => shortenTurn(record, place));
      const history = buildHistory([...window, next(past.length + 1)], { preface: "[Turns 1 to 3 …]" });

      expect(problemsOf(history, { written: blocksOf(past) })).toEqual([]);
      expect(history.at(-1)?.blocks.at(-1)?.textContent).toBe("Go on");
    }),
    SEED,
  );
});

const limits = fc.record({
  budgetTokens: fc.integer({ min: 200, max: 3_000 }),
  more: fc.integer({ min: 1, max: 4_000 }),
});
/**
 * How an API counts tokens: `tokens` times half of the bytes of a request's messages, so less than one token per byte.
 * If `counts` is true, the API can also count them before a request.
 */
const api = fc.record({ tokens: fc.double({ min: 0.05, max: 1, noNaN: true }), counts: fc.boolean() });

test("no request exceeds the hard limit, whatever the conversation, its results and the API's way to count", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(long, { maxLength: 4 }), limits, api, async (talks, size, { tokens, counts }) => {
      const hardTokens = size.budgetTokens + size.more;
      const shown = new ContextWindow({ turns: [], context: undefined }, { ...size, hardTokens });
      const input = [{ type: "text" as const, text: "Hi" }];
      const past = talks.flat().map((record, index) => ({ ...withOwnIds(record, index), input, position: index + 1 }));
      const measured = (history: readonly HistoryMessage[]) =>
        Math.floor(Buffer.byteLength(JSON.stringify(toMessages(history))) * tokens * 0.5);
      const count = async (history: readonly HistoryMessage[]) => (counts ? measured(history) : undefined);
      const overheadFor = () => ({ key: "", bytes: 0 });
      const faults: string[] = [];
      for (const record of past) {
        shown.makeRoom();
        const running = { ...record, state: "running" as const };
        const sent = await shown.fit({ turn: running, isPaused: false, overheadFor, count }).catch(toCode);
        if (sent === "too_large") continue;
        if (typeof sent === "string" || measured(sent) > hardTokens) faults.push("over the limit");
        else faults.push(...problemsOf(closed(sent), { written: blocksOf(past) }));
        if (typeof sent !== "string") shown.measure(measured(sent));
        shown.add({ ...record, state: record.state === "running" ? "failed" : record.state });
      }
      expect(faults).toEqual([]);
    }),
    { ...SEED, numRuns: propertyRuns(500) },
  );
});

/** Gives a turn's tool uses ids that no other turn uses. `runStep` does the same with an id that was used before. */
function withOwnIds(record: TurnRecord, index: number): TurnRecord {
  const own = ({ content, ...block }: TurnBlock): TurnBlock => {
    const id = content?.["tool_use_id"];
    return { ...block, content: typeof id === "string" ? { ...content, tool_use_id: `${id}_${index}` } : content };
  };
  return { ...record, blocks: record.blocks.map(own) };
}

const toCode = (error: unknown): string => (error instanceof AppError ? error.code : "no code");

/** Returns the history with a question at its end, as a request needs it. */
function closed(history: readonly HistoryMessage[]): readonly HistoryMessage[] {
  const question = { blockType: "text", textContent: "Continue.", content: null };
  return history.at(-1)?.role === "assistant" ? [...history, { role: "user", blocks: [question] }] : history;
}
