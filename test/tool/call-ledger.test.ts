import { expect, test } from "vitest";
import { type Call } from "../../src/tool/call.ts";
import { CallLedger } from "../../src/tool/call-ledger.ts";
import { success } from "../../src/tool/outcome.ts";
import { callOf } from "../support/call.ts";

/** A ledger with one open call, and everything that it tells of it. */
function open(changes: Partial<Call> = {}) {
  const told: Call[] = [];
  const tell = (call: Call) => void told.push(call);
  const ledger = new CallLedger({
    onOpened: tell,
    onChanged: tell,
    onProgress: tell,
    onSettled: tell,
    onExtraAnswer: () => {},
  });
  ledger.open(callOf({ revision: 0, ...changes }));
  return { ledger, told };
}

test("each change of a call has a revision of its own, and none comes twice", () => {
  const { ledger, told } = open();

  ledger.update("call", { state: "running" });
  ledger.report("call", { log: "one", progress: 0.5 });
  ledger.report("call", { log: "two" });
  ledger.settle("call", success({}));

  expect(told.map(({ revision }) => revision)).toEqual([1, 2, 3, 4, 5]);
  expect(told.at(-1)).toMatchObject({ state: "success", logs: ["one", "two"], progress: 0.5 });
});

test("a call that an earlier worker left goes on with its revision and its log", () => {
  const { ledger, told } = open({ revision: 7, logs: ["one"], state: "running" });

  ledger.report("call", { log: "two" });

  expect(told).toMatchObject([
    { revision: 8, logs: ["one"] },
    { revision: 9, logs: ["one", "two"] },
  ]);
});

test("progress is brought into 0 to 1; what is no number, or says nothing new, is no change", () => {
  const { ledger, told } = open();

  for (const progress of [-1, 0, Number.NaN, 5, 1, Number.POSITIVE_INFINITY]) ledger.report("call", { progress });

  expect(told.map(({ progress }) => progress)).toEqual([undefined, 0, 1]);
});

test("what a call says of itself after its end changes nothing", () => {
  const { ledger, told } = open();
  ledger.settle("call", success({}));

  ledger.report("call", { log: "late", progress: 1 });

  expect(told).toHaveLength(2);
});
