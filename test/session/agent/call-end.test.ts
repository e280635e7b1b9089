import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TurnState } from "../../../src/conversation/turn-record.ts";
import { NO_USAGE } from "../../../src/llm/model-event.ts";
import { CallEnd } from "../../../src/session/agent/call-end.ts";
import type { SessionEvent } from "../../../src/session/events/session-event.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const turnOf = (participantIdentity: string) =>
  ({
    id: "turn",
    position: 1,
    participantIdentity,
    parentMessageId: null,
    messageId: "answer",
    input: [],
    state: "running",
    blocks: [],
  }) as const;

function turnStart(participantIdentity: string): SessionEvent {
  return { type: "turn", turn: turnOf(participantIdentity), event: { type: "turn_start", model: "m" } };
}

function turnComplete(
  participantIdentity: string,
  state: Exclude<TurnState, "running">,
  { isSpoken = false } = {},
): SessionEvent {
  const how = { state, stopReason: "end_turn", usage: NO_USAGE, error: undefined, isSpoken } as const;
  return { type: "turn", turn: turnOf(participantIdentity), event: { type: "turn_complete", ...how } };
}

function turnSpoken(participantIdentity: string, heard?: string): SessionEvent {
  const state = heard === undefined ? "completed" : "interrupted";
  const event = { type: "turn_spoken", state, heard } as const;
  return { type: "turn", turn: turnOf(participantIdentity), event };
}

function calling() {
  const hungUp: (string | undefined)[] = [];
  const line = { hangUp: async (identity?: string) => void hungUp.push(identity) };
  return { hungUp, end: new CallEnd(line, pino({ enabled: false })) };
}

test("a participant's call ends once its turn has ended and the last words had time to arrive", () => {
  const { hungUp, end } = calling();
  end.afterTurn({ participant: "ana", isForAll: false });

  end.watch(turnComplete("bob", "completed"));
  vi.advanceTimersByTime(60_000);
  expect(hungUp).toEqual([]);
  end.watch(turnComplete("ana", "completed"));
  end.watch(turnComplete("ana", "completed"));
  vi.advanceTimersByTime(900);
  expect(hungUp).toEqual([]);
  vi.advanceTimersByTime(100);

  expect(hungUp).toEqual(["ana"]);
});

test.each([
  ["says something", (end: CallEnd) => end.watch(turnStart("ana"))],
  ["begins to speak", (end: CallEnd) => end.handleUserActivity("ana")],
])("a participant who %s right after the last words stays", (_, say) => {
  const { hungUp, end } = calling();
  end.afterTurn({ participant: "ana", isForAll: false });
  end.watch(turnComplete("ana", "completed"));

  vi.advanceTimersByTime(500);
  say(end);
  vi.advanceTimersByTime(60_000);

  expect(hungUp).toEqual([]);
});

test.each([
  [true, []],
  [false, ["ana"]],
])("somebody else's words in the last second keep a call open that ends for all (%s)", (isForAll, left) => {
  const { hungUp, end } = calling();
  end.afterTurn({ participant: "ana", isForAll });
  end.watch(turnComplete("ana", "completed"));

  vi.advanceTimersByTime(500);
  end.watch(turnStart("bob"));
  vi.advanceTimersByTime(60_000);

  expect(hungUp).toEqual(left);
});

test("words spoken over the last words keep the call open", () => {
  const { hungUp, end } = calling();
  end.afterTurn({ participant: "ana", isForAll: true });

  end.watch(turnComplete("ana", "interrupted"));
  end.watch(turnComplete("ana", "completed"));
  vi.advanceTimersByTime(60_000);

  expect(hungUp).toEqual([]);
});

test("a call whose last words are spoken ends after their sound, not after the turn", () => {
  const { hungUp, end } = calling();
  end.afterTurn({ participant: "ana", isForAll: false });

  end.watch(turnComplete("ana", "completed", { isSpoken: true }));
  vi.advanceTimersByTime(60_000);
  const before = [...hungUp];
  end.watch(turnSpoken("ana"));
  vi.advanceTimersByTime(1_000);

  expect([before, hungUp]).toEqual([[], ["ana"]]);
});

test("words during the sound of the last words keep the call open", () => {
  const { hungUp, end } = calling();
  end.afterTurn({ participant: "ana", isForAll: true });
  end.watch(turnComplete("ana", "completed", { isSpoken: true }));

  end.watch(turnSpoken("ana", "Good"));
  vi.advanceTimersByTime(60_000);

  expect(hungUp).toEqual([]);
});

test("a worker that only says the rest of the last words ends the call as well", () => {
  const { hungUp, end } = calling();
  const input = [{ type: "note", note: "Nobody is there.", say: "Goodbye.", endsCall: true }] as const;
  const event = { type: "turn_spoken", state: "completed", heard: undefined } as const;

  end.watch({ type: "turn", turn: { ...turnOf("ana"), input }, event });
  vi.advanceTimersByTime(1_000);

  expect(hungUp).toEqual([undefined]);
});
