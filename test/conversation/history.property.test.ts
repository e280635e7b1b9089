import fc from "fast-check";
import { expect, test } from "vitest";
import { toolUseId } from "../../src/conversation/block.ts";
import { buildHistory, OUTCOME_UNKNOWN, textBlock } from "../../src/conversation/history.ts";
import type { TurnRecord } from "../../src/conversation/turn-record.ts";
import { pausedBlocks, placed, turn, turns } from "./arbitrary-turns.ts";
import { problemsOf } from "./history-problems.ts";
import { propertyRuns, propertySeed } from "../support/property-runs.ts";

const SEED = { seed: propertySeed(20_261_121), numRuns: propertyRuns(6_000) };
const writtenIn = (records: readonly TurnRecord[]) => records.flatMap(({ blocks }) => blocks);
const next = (position: number) => turn(position, "running", { input: [{ type: "text", text: "Go on" }] });

test("whatever happened in earlier turns, the API accepts the history of the next one", () => {
  fc.assert(
    fc.property(turns, (past) => {
      const history = buildHistory([...past, next(past.length + 1)]);

      expect(problemsOf(history, { written: writtenIn(past) })).toEqual([]);
    }),
    SEED,
  );
});

test("a turn that is resumed in any state continues with a history that the API accepts", () => {
  fc.assert(
    fc.property(turns, turns, (past, [last]) => {
      const open = turn(past.length + 1, "running", {
        input: [{ type: "text", text: "Hi" }],
        blocks: last?.blocks ?? [],
      });
      const history = buildHistory([...past, open]);
      const isAnswered = history.at(-1)?.role === "assistant";
      const sent = isAnswered ? [...history, { role: "user" as const, blocks: [textBlock("Continue.")] }] : history;

      expect(problemsOf(sent, { written: writtenIn([...past, open]) })).toEqual([]);
    }),
    SEED,
  );
});

test("a history that grows turn by turn equals one that is built at once", () => {
  fc.assert(
    fc.property(turns, fc.constantFrom("", "It began long ago."), fc.boolean(), (past, preface, announcesTools) => {
      for (let count = 1; count <= past.length; count++) {
        const shown = [...past.slice(0, count), next(count + 1)];
        const atOnce = buildHistory(structuredClone(shown), { preface, announcesTools });

        expect(buildHistory(shown, { preface, announcesTools })).toEqual(atOnce);
        expect(buildHistory(shown, { preface, announcesTools })).toEqual(atOnce);
      }
    }),
    { ...SEED, numRuns: propertyRuns(300) },
  );
});

test("a paused turn is sent back with its last message unchanged, whatever came before", () => {
  fc.assert(
    fc.property(turns, pausedBlocks, (past, paused) => {
      const open = turn(past.length + 1, "running", {
        input: [{ type: "text", text: "Hi" }],
        blocks: placed(paused),
      });
      const history = buildHistory([...past, open], { isPaused: true });

      expect(problemsOf(history, { written: writtenIn(past), paused })).toEqual([]);
      expect(history.at(-1)?.blocks).toMatchObject(paused);
    }),
    { ...SEED, numRuns: propertyRuns(2_000) },
  );
});

test("every tool use with a valid name is in the history once, with its first stored result", () => {
  fc.assert(
    fc.property(turns, (past) => {
      const blocks = buildHistory(past).flatMap((message) => message.blocks);
      const used = blocks.filter(({ blockType }) => blockType === "tool_use").map(toolUseId);
      const results = blocks.filter(({ blockType }) => blockType === "tool_result");
      const stored = writtenIn(past).filter(({ blockType }) => blockType === "tool_use");

      expect(used).toEqual([...new Set(stored.flatMap((use) => toolUseId(use) ?? []))]);
      expect(results.map(toolUseId)).toEqual(used);
      for (const result of results) expect(result.content?.["content"]).toBe(expectedAnswer(past, toolUseId(result)));
    }),
    SEED,
  );
});

test("building a history does not modify the turns", () => {
  fc.assert(
    fc.property(turns, (past) => {
      const before = structuredClone(past);
      buildHistory(past);
      expect(past).toEqual(before);
    }),
    { ...SEED, numRuns: propertyRuns(500) },
  );
});

/**
 * Returns the content that must answer a tool use. Looks only at the first turn that used the id, because results in
 * other turns belong to no tool use.
 */
function expectedAnswer(past: readonly TurnRecord[], id: string | undefined): unknown {
  const owner = past.find(({ blocks }) =>
    blocks.some((each) => each.blockType === "tool_use" && toolUseId(each) === id),
  );
  const first = owner?.blocks.find((each) => each.blockType === "tool_result" && toolUseId(each) === id);
  return first?.content?.["content"] ?? OUTCOME_UNKNOWN;
}
