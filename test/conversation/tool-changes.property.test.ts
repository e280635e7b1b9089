import fc from "fast-check";
import { expect, test } from "vitest";
import { buildHistory, type HistoryMessage } from "../../src/conversation/history.ts";
import type { ToolChange, TurnRecord } from "../../src/conversation/turn-record.ts";
import { toMessages } from "../../src/llm/to-messages.ts";
import { validateSystemMessages } from "../../src/model-server/validate-system-messages.ts";
import type { Message } from "../../src/model-server/message.ts";
import { propertyRuns, propertySeed } from "../support/property-runs.ts";
import { turn, turns } from "./arbitrary-turns.ts";
import { problemsOf } from "./history-problems.ts";

const name = fc.constantFrom("scan", "print", "ring");
const tool = fc.record({
  name,
  description: fc.constantFrom("A.", "B."),
  inputSchema: fc.constant({ type: "object" }),
});
const change = fc.record({
  before: fc.nat(12),
  added: fc.array(tool.map((each) => ({ ...each, owner: "ann" }))),
  removed: fc.array(name),
});
const changes = fc
  .array(change, { maxLength: 3 })
  .map((all): ToolChange[] => all.toSorted((a, b) => a.before - b.before));
const talks = fc
  .tuple(turns, fc.array(changes))
  .map(([records, toolChanges]) =>
    records.map((record, index): TurnRecord => ({ ...record, context: { from: 1, tools: toolChanges[index] ?? [] } })),
  );
const next = (position: number) => turn(position, "running", { input: [{ type: "text", text: "Go on" }] });
const withoutSystem = (history: readonly HistoryMessage[]) => history.filter(({ role }) => role !== "system");

test("wherever tools change and the conversation is cut, the API accepts the result, and nothing else changes", () => {
  fc.assert(
    fc.property(talks, fc.nat(6), (past, first) => {
      const window = [...past.slice(first), next(past.length + 1)];
      const history = buildHistory(window, { announcesTools: true });
      const written = past.flatMap(({ blocks }) => blocks);

      const sent = toMessages(history) as unknown as Message[];
      expect([...validateSystemMessages({}, sent, "inline-tools-2026-09-15")]).toEqual([]);
      expect(withoutSystem(history)).toEqual(buildHistory(window));
      expect(problemsOf(withoutSystem(history), { written })).toEqual([]);
    }),
    { seed: propertySeed(20_261_122), numRuns: propertyRuns(2_000) },
  );
});
