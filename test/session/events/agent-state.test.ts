import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AgentState } from "../../../src/session/events/agent-state.ts";
import type { SessionEvent } from "../../../src/session/events/session-event.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = () => vi.advanceTimersByTime(100);

function state() {
  const said: string[] = [];
  const agent = new AgentState((attributes) => {
    said.push(`${attributes["lk.agent.state"]} ${attributes["parley.agent.state"]}`);
  });
  const turn = (type: string, more: object = {}) =>
    agent.watch({ type: "turn", event: { type, ...more } } as unknown as SessionEvent);
  const call = (id: string, outcome?: object) =>
    agent.watch({ type: "tool_state", call: { id, outcome } } as unknown as SessionEvent);
  return { agent, said, turn, call };
}

/** Like `state`, but the agent publishes its state already. */
function shownState() {
  const shown = state();
  shown.agent.publish();
  shown.said.length = 0;
  return shown;
}

test("a room that was just joined is told that the agent is listening", () => {
  const { agent, said } = state();
  agent.publish();
  expect(said).toEqual(["listening listening"]);
});

test("a turn with a tool goes through its states, and LiveKit's own state has no value for the tool", () => {
  const { agent, said, turn, call } = shownState();
  turn("turn_start");
  pass();
  call("a");
  pass();
  call("a", {});
  pass();
  agent.setSpeaking(true);
  pass();
  turn("turn_complete");
  agent.setSpeaking(false);
  pass();
  expect(said).toEqual([
    "thinking thinking",
    "thinking using_tool",
    "thinking thinking",
    "speaking speaking",
    "listening listening",
  ]);
});

test("a call that outlives its turn does not count as what the agent is doing", () => {
  const { said, turn, call } = shownState();
  turn("turn_start");
  call("a");
  pass();
  turn("turn_complete");
  pass();
  expect(said.at(-1)).toBe("listening listening");
});

test("between two pieces of sound the state is not listening, even if the turn has ended", () => {
  const { agent, said, turn } = shownState();
  turn("turn_start");
  agent.setSpeaking(true);
  pass();
  turn("turn_complete", { isSpoken: true });
  agent.setSpeaking(false);
  pass();
  const between = said.at(-1);
  turn("turn_spoken");
  pass();
  expect([between, said.at(-1)]).toEqual(["thinking thinking", "listening listening"]);
});

test("a state that ends immediately is not published", () => {
  const { said, turn, call } = shownState();
  turn("turn_start");
  call("a");
  call("a", {});
  pass();
  expect(said).toEqual(["thinking thinking"]);
});

test("nothing is published before the first publication, which shows the current state", () => {
  const { agent, said, turn } = state();
  turn("turn_start");
  pass();
  expect(said).toEqual([]);

  agent.publish();

  expect(said).toEqual(["thinking thinking"]);
});

test("nothing is published after the end", () => {
  const { agent, said, turn } = shownState();
  agent.close();

  turn("turn_start");
  pass();

  expect(said).toEqual([]);
});
