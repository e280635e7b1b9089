import { pino } from "pino";
import { expect, test } from "vitest";
import type { TurnState } from "../../../src/conversation/turn-record.ts";
import { NO_USAGE } from "../../../src/llm/model-event.ts";
import { CallEnd } from "../../../src/session/agent/call-end.ts";
import type { SessionEvent } from "../../../src/session/events/session-event.ts";

function ended(participantIdentity: string, state: Exclude<TurnState, "running">): SessionEvent {
  const turn = {
    id: "turn",
    position: 1,
    participantIdentity,
    parentMessageId: null,
    messageId: "answer",
    input: [],
    state: "running",
    blocks: [],
  } as const;
  const event = { type: "turn_complete", state, stopReason: "end_turn", usage: NO_USAGE, error: undefined } as const;
  return { type: "turn", turn, event };
}

function calling() {
  const hungUp: (string | undefined)[] = [];
  const line = { hangUp: async (identity?: string) => void hungUp.push(identity) };
  return { hungUp, end: new CallEnd(line, pino({ enabled: false })) };
}

test("a participant's call ends when its turn has", () => {
  const { hungUp, end } = calling();
  end.afterTurn({ participant: "ana", isForAll: false });

  end.watch(ended("bob", "completed"));
  expect(hungUp).toEqual([]);
  end.watch(ended("ana", "completed"));
  end.watch(ended("ana", "completed"));

  expect(hungUp).toEqual(["ana"]);
});

test("words over the last words keep the call", () => {
  const { hungUp, end } = calling();
  end.afterTurn({ participant: "ana", isForAll: true });

  end.watch(ended("ana", "interrupted"));
  end.watch(ended("ana", "completed"));

  expect(hungUp).toEqual([]);
});
