import { expect, test, vi } from "vitest";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import type { NewTurn } from "../../../src/session/turns/turn-queue.ts";
import { createTurn } from "../../../src/session/turns/create-turn.ts";
import { RunningTurn } from "../../../src/session/turns/running-turn.ts";

const HEARD_AT = 10_000;

const said = (text: string, more: Partial<NewTurn> = {}): NewTurn => ({
  participant: "ann",
  messageId: text,
  input: [{ type: "text", text }],
  spoken: { fromAt: HEARD_AT + 100, toAt: HEARD_AT + 900 },
  ...more,
});

function running({ heardAt, blocks = [] }: { heardAt?: number; blocks?: readonly TurnBlock[] } = {}) {
  const first = said("I would like a tea.", { spoken: { fromAt: 8_000, toAt: 9_000 } });
  const turn = createTurn(first, 1);
  const answer = { heardAt, silence: () => {} };
  return new RunningTurn({ turn, answer, blocks, spoken: first.spoken });
}

const wordsOf = ({ input }: NewTurn) => input.map((part) => (part.type === "text" ? part.text : "")).join("|");
const JOINED = "I would like a tea And a cake.";

test.each([
  ["before the answer is heard", undefined, HEARD_AT],
  ["600 ms after its first sound", HEARD_AT, HEARD_AT + 600],
])("an utterance that begins %s continues the question", (_when, heardAt, fromAt) => {
  const next = running({ ...(heardAt !== undefined && { heardAt }) }).continuedBy(
    said("And a cake.", { spoken: { fromAt, toAt: fromAt + 900 } }),
  );

  expect(wordsOf(next)).toBe(JOINED);
  expect(next.messageId).toBe("And a cake.");
  expect(next.spoken?.fromAt).toBe(8_000);
  expect(next.replaces).toMatchObject({ position: 1 });
});

test.each([
  ["begins later", said("And a cake.", { spoken: { fromAt: HEARD_AT + 601, toAt: HEARD_AT + 900 } })],
  ["is somebody else's", said("And a cake.", { participant: "bob" })],
  ["was typed", said("And a cake.", { spoken: undefined })],
])("an utterance that %s is a turn of its own", (_why, next) => {
  expect(running({ heardAt: HEARD_AT }).continuedBy(next)).toBe(next);
});

test("a turn that has called a tool, or whose answer was heard to its end, is not continued", () => {
  const block = { sequence: 1, blockType: "tool_use", content: {} } as unknown as TurnBlock;
  const next = said("And a cake.");
  expect(running({ heardAt: HEARD_AT, blocks: [block] }).continuedBy(next)).toBe(next);

  const heard = running({ heardAt: HEARD_AT });
  heard.end({ heard: undefined });
  expect(heard.continuedBy(next)).toBe(next);
});

test("a turn that was cut off before it was heard is continued for 600 ms, and no longer answers to its ids", () => {
  vi.setSystemTime(HEARD_AT);
  const cut = running();
  cut.end({ heard: "" });
  vi.useRealTimers();

  expect(cut.ids).toEqual([]);
  expect(wordsOf(cut.continuedBy(said("And a cake.")))).toBe(JOINED);
  const late = said("And a cake.", { spoken: { fromAt: HEARD_AT + 601, toAt: HEARD_AT + 900 } });
  expect(cut.continuedBy(late)).toBe(late);
});
