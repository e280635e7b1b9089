import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/lib/json.ts";
import { setFields, type FieldChanges, type StateChange } from "../../../src/conversation/state/state-change.ts";
import type { StateAccess } from "../../../src/conversation/state/session-state.ts";
import { LiveState } from "../../../src/session/state/live-state.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

const FIELDS = ["a", "b", "c"] as const;
const field = fc.constantFrom(...FIELDS);
const how = fc.constantFrom("add", "remove", "set");
const outcome = fc.constantFrom("success", "error", "cancelled");

/** One thing that happens: a call begins, updates the state, or ends; a hook updates the state; turns are replaced. */
const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant("begin"), call: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("update"), call: fc.nat(5), field, how }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("end"), call: fc.nat(5), outcome }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("hook"), field }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("turn") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("replace"), turns: fc.nat(4) }) },
);
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;
type Of<Type extends Event["type"]> = Extract<Event, { readonly type: Type }>;

type Numbers = Readonly<Record<string, number>>;
type Update = (state: Numbers) => Numbers;

function toUpdate(name: string, change: "add" | "remove" | "set"): Update {
  if (change === "add") return (state) => ({ ...state, [name]: (state[name] ?? 0) + 1 });
  if (change === "set") return () => ({ [name]: 10 });
  return (state) => Object.fromEntries(Object.entries(state).filter(([each]) => each !== name));
}

interface OpenCall {
  readonly id: string;
  readonly turn: number;
  readonly updates: Update[];
  readonly access: StateAccess;
}

/** Plays events on a `LiveState` and on a simple model of it. Collects the differences. */
class World {
  readonly faults: string[] = [];
  readonly #live = new LiveState({ stored: { state: undefined, version: 0 }, logger: { warn: () => {} } });
  readonly #signal = new AbortController().signal;
  readonly #open = new Map<number, OpenCall>();
  #applied: { readonly turn: number; readonly change: StateChange }[] = [];
  #expected: Numbers = {};
  #turn = 1;
  #calls = 0;

  play(each: Event): void {
    if (each.type === "begin") this.#begin(each as Of<"begin">);
    else if (each.type === "update") this.#update(each as Of<"update">);
    else if (each.type === "end") this.#end(each as Of<"end">);
    else if (each.type === "hook") this.#hook(each as Of<"hook">);
    else if (each.type === "replace") this.#replace(each as Of<"replace">);
    else this.#turn++;
    this.#compare(this.#live.value, this.#expected, `after ${each.type}`);
  }

  #begin({ call }: Of<"begin">): void {
    if (this.#open.has(call)) return;
    const id = `call ${this.#calls++}`;
    const access = this.#live.accessOf({ id, signal: this.#signal });
    this.#open.set(call, { id, turn: this.#turn, updates: [], access });
  }

  #update({ call, ...change }: Of<"update">): void {
    const open = this.#open.get(call);
    if (!open) return;
    const update = toUpdate(change.field, change.how as "add");
    open.updates.push(update);
    open.access.update((state) => update(state as Numbers) as JsonObject);
    this.#compare(open.access.get(), applyAll(open.updates, this.#expected), "within a call");
  }

  #end({ call, outcome: state }: Of<"end">): void {
    const open = this.#open.get(call);
    if (!open) return;
    this.#open.delete(call);
    const change = this.#live.settle({ id: open.id, turnId: "turn", state: state as "success" });
    if (change) this.#applied.push({ turn: open.turn, change });
    if (state === "success") this.#expected = applyAll(open.updates, this.#expected);
    this.#compare(open.access.get(), this.#expected, "for a call that has ended");
  }

  #hook(each: Of<"hook">): void {
    const update = toUpdate(each.field, "add");
    const store = (change: StateChange) => void this.#applied.push({ turn: 0, change });
    const access = this.#live.accessOfHook({ turnId: null, signal: this.#signal, store });
    access.update((state) => update(state as Numbers) as JsonObject);
    this.#expected = update(this.#expected);
  }

  /**
   * Replaces the last turns. If no earlier turn has changed the state since the first of them, the state is exactly the
   * one from before. Otherwise, the fields that the replaced turns changed are as before.
   */
  #replace({ turns }: Of<"replace">): void {
    const from = Math.max(1, this.#turn - turns);
    const undone = this.#applied.filter(({ turn }) => turn >= from);
    this.#turn++;
    const [first] = undone;
    if (!first) return;
    const fields: FieldChanges = Object.fromEntries(
      undone.toReversed().flatMap(({ change }) => Object.entries(change.fields)),
    );
    this.#live.undo({ fields, until: undone.at(-1)?.change.version ?? 0 });
    const isExact = this.#applied.slice(this.#applied.indexOf(first)).every(({ turn }) => turn >= from);
    const before = setFields(first.change.state, first.change.fields, "before");
    this.#expected = (isExact ? before : setFields(this.#expected, fields, "before")) as Numbers;
    this.#applied = this.#applied.filter((change) => !undone.includes(change));
  }

  #compare(actual: unknown, expected: Numbers, when: string): void {
    if (!isDeepStrictEqual({ ...(actual as Numbers) }, { ...expected }))
      this.faults.push(`${when}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }
}

function applyAll(updates: readonly Update[], state: Numbers): Numbers {
  return updates.reduce((before, update) => update(before), state);
}

test("over any order of calls, hooks and replaced turns, each successful call's updates take effect once, and all others not at all", () => {
  for (const events of fc.sample(fc.array(event, { maxLength: 60 }), {
    numRuns: propertyRuns(300),
    seed: propertySeed(),
  })) {
    const world = new World();
    for (const each of events) world.play(each);
    expect(world.faults.map((fault) => `${fault}: ${JSON.stringify(events)}`)).toEqual([]);
  }
});
