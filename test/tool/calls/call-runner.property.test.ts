import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Execution, OnInterrupt } from "../../../src/conversation/call.ts";
import { announced, MemoryPorts, serverTool } from "../memory-ports.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const TIMEOUT_MS = 3_000;
const TOOL = serverTool("both", { timeoutMs: TIMEOUT_MS });

const happening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ wait: fc.constantFrom(1, 400, 999, 1_000, 2_999, 4_000, 10_000) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      signal: fc.constantFrom("claimed", "declined", "left", "returned"),
      from: fc.constantFrom("user", "user", "user", "thief"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ result: fc.boolean(), from: fc.constantFrom("user", "user", "thief") }) },
  { weight: 1, arbitrary: fc.record({ abort: fc.constantFrom("interrupted", "stopped", "closed") }) },
  { weight: 1, arbitrary: fc.record({ jump: fc.constantFrom(3_600_000, -3_600_000) }) },
);

const scenario = fc.record({
  execution: fc.constantFrom<Execution[]>("server", "client", "either"),
  idempotent: fc.boolean(),
  onInterrupt: fc.constantFrom<OnInterrupt[]>("finish", "cancel", "block"),
  isListKnown: fc.boolean(),
  isPresent: fc.boolean(),
  /** How many ms the run on the server takes. With 100 s, the run never ends in time. */
  runMs: fc.constantFrom(0, 500, 100_000),
  failingSends: fc.array(fc.nat(3), { maxLength: 2 }),
  happenings: fc.array(happening, { maxLength: 10 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

const STEP_MS = 500;

/**
 * Advances the time in steps, and lets promises settle after each step. Vitest's own asynchronous function is too slow:
 * it takes 1 ms per step.
 */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= STEP_MS) {
    vi.advanceTimersByTime(Math.min(left, STEP_MS));
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }
}

/** Plays a scenario. Returns whether the tool may have run on the client, and how often it has run on the server. */
async function play({ happenings, ...setup }: Scenario) {
  let runs = 0;
  const run = () => {
    runs++;
    return new Promise((resolve) => setTimeout(() => resolve("from the server"), setup.runMs));
  };
  const { execution, idempotent, onInterrupt } = setup;
  const tool = { ...TOOL, execution, idempotent, onInterrupt, run };
  const ports = new MemoryPorts({
    tools: { both: tool },
    participants: { user: setup.isListKnown ? [announced("both", { execution: "either" })] : undefined },
    sendRequest: (call, count) =>
      call.addressee !== undefined && setup.failingSends.includes(count)
        ? Promise.reject(new Error("lost"))
        : Promise.resolve(),
  });
  if (!setup.isPresent) ports.absent.add("user");
  const answers: unknown[] = [];
  const calledAt = performance.now();
  void ports.run("both").then((answer) => answers.push(answer));
  await pass(0);
  let hasClientRun = false;
  for (const event of happenings) {
    if ("wait" in event) await pass(event.wait);
    else if ("signal" in event) ports.signal(event.signal, event.from);
    else if ("abort" in event) ports.abort(event.abort);
    else if ("jump" in event) vi.setSystemTime(Date.now() + event.jump);
    else {
      const given = event.result
        ? ports.answer({ from: "client" }, event.from)
        : ports.answerError("x", "y", event.from);
      hasClientRun ||= given === "won";
    }
  }
  const left = TIMEOUT_MS + 1_000 - (performance.now() - calledAt);
  if (left > 0) await pass(left);
  return { ports, answers, runs, hasClientRun };
}

test("in whatever order things happen, a call settles once, runs once and leaves nothing behind", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (setup) => {
      const { ports, answers, runs, hasClientRun } = await play(setup);

      expect(answers).toHaveLength(1);
      expect(ports.settled).toHaveLength(1);
      expect(ports.ledger.openCount).toBe(0);
      expect(runs + Number(hasClientRun)).toBeLessThanOrEqual(1);
      expect(ports.extra.filter(({ kind }) => kind === "wrong_participant").every(({ from }) => from === "thief")).toBe(
        true,
      );
      await pass(100_000);
      expect(vi.getTimerCount()).toBe(0);
      expect(ports.listenerCount).toBe(0);
    }),
    { seed: propertySeed(20_261_121), numRuns: propertyRuns(3_000) },
  );
});

test("a tool that is not idempotent never runs on the server once its client, asked for good, has gone away", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (setup) => {
      const away = { signal: "left", from: "user" } as const;
      const { runs } = await play({
        ...setup,
        execution: "either",
        idempotent: false,
        isListKnown: true,
        isPresent: true,
        failingSends: [],
        happenings: [away, ...setup.happenings],
      });

      expect(runs).toBe(0);
    }),
    { seed: propertySeed(20_261_121), numRuns: propertyRuns(1_000) },
  );
});
