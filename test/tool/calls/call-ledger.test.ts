import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { Call, ExtraAnswer } from "../../../src/conversation/call.ts";
import { CallLedger } from "../../../src/tool/calls/call-ledger.ts";
import { failure, success } from "../../../src/tool/outcome.ts";
import { callOf } from "../../support/call.ts";

/** Creates a ledger with one open call. Also returns all states that the ledger has reported. */
function open(changes: Partial<Call> = {}, tools: ConstructorParameters<typeof CallLedger>[1] = new Map()) {
  const states: Call[] = [];
  const record = (call: Call) => void states.push(call);
  const extra: ExtraAnswer[] = [];
  const listener = {
    onOpened: record,
    onChanged: record,
    onBegun: () => {},
    onProgress: record,
    onSettled: record,
    onExtraAnswer: (_: string, answer: ExtraAnswer) => void extra.push(answer),
  };
  const ledger = new CallLedger(listener, tools);
  ledger.open(callOf({ revision: 0, ...changes }));
  return { ledger, states, extra };
}

test("each change to a call has its own revision, and none is repeated", () => {
  const { ledger, states } = open();

  ledger.update("call", { state: "running" });
  ledger.report("call", { log: "one", progress: 0.5 });
  ledger.report("call", { log: "two" });
  ledger.settle("call", success({}));

  expect(states.map(({ revision }) => revision)).toEqual([1, 2, 3, 4, 5]);
  expect(states.at(-1)).toMatchObject({ state: "success", logs: ["one", "two"], progress: 0.5 });
});

test("a call that an earlier worker left continues with its revision and its log", () => {
  const { ledger, states } = open({ revision: 7, logs: ["one"], state: "running" });

  ledger.report("call", { log: "two" });

  expect(states).toMatchObject([
    { revision: 8, logs: ["one"] },
    { revision: 9, logs: ["one", "two"] },
  ]);
});

test("progress is limited to 0 to 1; anything that is not a number, or not new, is no change", () => {
  const { ledger, states } = open();

  for (const progress of [-1, 0, Number.NaN, 5, 1, Number.POSITIVE_INFINITY]) ledger.report("call", { progress });

  expect(states.map(({ progress }) => progress)).toEqual([undefined, 0, 1]);
});

test("a call's updates after its end change nothing", () => {
  const { ledger, states } = open();
  ledger.settle("call", success({}));

  ledger.report("call", { log: "late", progress: 1 });

  expect(states).toHaveLength(2);
});

test("a repeatable call's outcome is reused for the next one in its turn, and is discarded with the turn", async () => {
  const { ledger } = open({}, new Map([[callOf().toolName, { onDuplicate: "reuse" as const }]]));
  ledger.settle("call", success({ n: 1 }));
  const again = callOf({ id: "again" });

  expect(await ledger.earlierOf(again)).toEqual(success({ n: 1 }));
  ledger.forgetPastTurns();
  expect(ledger.earlierOf(again)).toBeUndefined();
});

test("a turn with open calls is not finished", () => {
  const { ledger } = open({}, new Map([[callOf().toolName, { onDuplicate: "reject" as const }]]));

  ledger.forgetPastTurns();

  expect(ledger.earlierOf(callOf({ id: "again" }))).toBeDefined();
});

test("no outcome is kept for a tool whose calls each run separately", async () => {
  const { ledger, states } = open();
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const settle = () => {
    const result = { picture: "x".repeat(1_000_000) };
    ledger.settle("call", success(result));
    states.length = 0;
    return new WeakRef(result);
  };

  const kept = settle();
  await new Promise((resolve) => setTimeout(resolve));
  collectGarbage();

  expect(kept.deref()).toBeUndefined();
  expect(ledger.openCount).toBe(0);
});

test("a failure's details have a limit", () => {
  const { ledger, states, extra } = open({ state: "running", addressee: "ann" });
  const endless = failure("e".repeat(1_000), "x".repeat(100_000));

  ledger.settle("call", endless, "ann");
  ledger.answer("call", endless, "ann");

  expect(states.at(-1)?.outcome).toMatchObject({ errorCode: "e".repeat(256), errorMessage: expect.any(String) });
  expect(JSON.stringify(states.at(-1)?.outcome).length).toBeLessThan(17_000);
  expect(extra).toMatchObject([{ kind: "duplicate", errorCode: "e".repeat(256) }]);
});
