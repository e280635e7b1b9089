import { expect, test } from "vitest";
import { modelCalls } from "../../src/scenario/playable.ts";

const block = (blockType: string, sequence: number) => ({ sequence, blockType, textContent: null, content: null });
const blocks = ["text", "tool_use", "tool_result", "text"].map(block);

test("each of a call's blocks has its time since the call's start, without the time taken by tools", () => {
  const calls = modelCalls({ input: [], blocks }, [300, 350, 2_000, 2_400]);

  expect(calls.map(({ start, writtenMs }) => ({ start, writtenMs }))).toEqual([
    { start: 0, writtenMs: [300, 350] },
    { start: 3, writtenMs: [400] },
  ]);
});

test("no wait for a block is so long that an agent would give up on the model", () => {
  const calls = modelCalls({ input: [], blocks }, [60_000, 61_000, 62_000, 122_000]);

  expect(calls.map(({ writtenMs }) => writtenMs)).toEqual([[20_000, 21_000], [20_000]]);
});

test("blocks without known times come immediately", () => {
  expect(modelCalls({ input: [], blocks }, []).map(({ writtenMs }) => writtenMs)).toEqual([[0, 0], [0]]);
});
