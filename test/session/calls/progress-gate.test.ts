import { expect, test } from "vitest";
import type { Call } from "../../../src/conversation/call.ts";
import { PROGRESS_EVERY_MS, ProgressGate } from "../../../src/session/calls/tool-states.ts";
import { callOf } from "../../support/call.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

function gateOf() {
  const passed: Call["logs"][number][] = [];
  const gate = new ProgressGate(({ logs }) => passed.push(logs.at(-1) ?? ""));
  return { gate, passed, say: (line: string, id = "call") => gate.note(callOf({ id, logs: [line] })) };
}

test("the first update passes immediately, and of the following ones the newest when the time is over", async () => {
  using clock = new VirtualClock();
  const { passed, say } = gateOf();

  for (let index = 0; index < 100; index++) say(`line ${index}`);
  expect(passed).toEqual(["line 0"]);

  await clock.run(PROGRESS_EVERY_MS);
  expect(passed).toEqual(["line 0", "line 99"]);
});

test("a held update passes before another change, and not a second time", async () => {
  using clock = new VirtualClock();
  const { gate, passed, say } = gateOf();
  say("one");
  say("two");

  gate.flush("call");
  await clock.run(5 * PROGRESS_EVERY_MS);

  expect(passed).toEqual(["one", "two"]);
});

test("calls do not wait for each other", () => {
  using _clock = new VirtualClock();
  const { passed, say } = gateOf();

  say("one", "a");
  say("two", "b");

  expect(passed).toEqual(["one", "two"]);
});
