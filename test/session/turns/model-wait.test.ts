import { expect, test } from "vitest";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import { ModelWait } from "../../../src/session/turns/model-wait.ts";
import type { TurnEvent } from "../../../src/turn/turn-event.ts";

const use = (id: string): TurnBlock => ({
  sequence: 0,
  blockType: "tool_use",
  textContent: null,
  content: { tool_use_id: id, tool_name: "look", input: {} },
});
const result = (id: string): TurnBlock => ({
  sequence: 0,
  blockType: "tool_result",
  textContent: null,
  content: { tool_use_id: id, content: "found", is_error: false },
});
const START = { type: "turn_start", model: "m" } as const;
const USAGE = { type: "usage", step: 1, usage: {} } as unknown as TurnEvent;
const stop = (block: TurnBlock): TurnEvent => ({ type: "block_stop", sequence: 0, block });

/** Handles events, and returns after which of them the agent may be heard thinking. */
function thinkingAfter(events: readonly TurnEvent[], blocks: readonly TurnBlock[] = []): boolean[] {
  let signal: AbortSignal | undefined;
  const wait = new ModelWait({ think: (until) => (signal = until) }, blocks, new AbortController().signal);
  return events.map((event) => {
    wait.handle(event);
    return signal?.aborted === false;
  });
}

test("a turn waits for the model from its start to the end of each step, and again when all results are there", () => {
  const events = [START, stop(use("a")), stop(use("b")), USAGE, stop(result("a")), stop(result("b")), USAGE];

  expect(thinkingAfter(events)).toEqual([true, true, true, false, false, true, false]);
});

test("a resumed turn waits for the model once its open calls have results", () => {
  expect(thinkingAfter([START, stop(result("a"))], [use("a")])).toEqual([false, true]);
});

test("a turn that is aborted waits for nothing", () => {
  let signal: AbortSignal | undefined;
  const turn = new AbortController();
  new ModelWait({ think: (until) => (signal = until) }, [], turn.signal).handle(START);

  turn.abort();

  expect(signal?.aborted).toBe(true);
});
