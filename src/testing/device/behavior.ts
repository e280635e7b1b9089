import { fieldsOf, refuseUnknownFields } from "../../lib/checks/did-you-mean.ts";
import type { JsonObject } from "../../lib/json.ts";

/** A tool's result. An object is sent as it is, `undefined` and `null` as `{}`, and any other value as `{value}`. */
export type Value = object | string | number | boolean | null | undefined;
/** Returns a tool's result for the model's arguments. */
export type MakeValue = (input: JsonObject) => Value;

/** How a device announces its tool. Missing fields default to those of the agent's own tool of that name. */
export interface Announced {
  readonly description?: string;
  /** A JSON Schema of the arguments. @defaultValue the schema of the agent's own tool, otherwise any object */
  readonly input?: JsonObject;
  readonly timeoutMs?: number;
  /** @defaultValue "either" if the agent's own tool is set to it, otherwise "client" */
  readonly execution?: "client" | "either";
}

/** How a tool behaves when it is called. Created by the functions below. */
export type Behavior = Announced &
  (
    | {
        readonly kind: "answer";
        readonly value: Value | MakeValue;
        /** Milliseconds from the call to its result. */
        readonly afterMs: number;
        readonly times: 1 | 2;
      }
    | { readonly kind: "never" }
    | { readonly kind: "leave"; readonly backAfterMs: number | undefined; readonly value: Value | MakeValue }
    | { readonly kind: "throws"; readonly message: string; readonly code: string; readonly result?: JsonObject }
  );

const ANNOUNCED = fieldsOf<Announced>({ description: true, input: true, timeoutMs: true, execution: true });

function checked(announced: Announced): Announced {
  refuseUnknownFields(announced, ANNOUNCED, "a behavior's options");
  return announced;
}

/** The tool returns this value. */
export function answer(value?: Value | MakeValue, announced: Announced = {}): Behavior {
  return { ...checked(announced), kind: "answer", value, afterMs: 0, times: 1 };
}

/** The tool returns its value after `afterMs`, even if nobody is waiting for it anymore. */
export function late(afterMs: number, value?: Value | MakeValue, announced: Announced = {}): Behavior {
  return { ...checked(announced), kind: "answer", value, afterMs, times: 1 };
}

/** The tool sends its result twice. */
export function twice(value?: Value | MakeValue, announced: Announced = {}): Behavior {
  return { ...checked(announced), kind: "answer", value, afterMs: 0, times: 2 };
}

/** The tool accepts the call and never responds. */
export function never(announced: Announced = {}): Behavior {
  return { ...checked(announced), kind: "never" };
}

/**
 * The device leaves the room when the tool is called. With `backAfterMs`, it rejoins after that time and then responds.
 */
export function leave({
  backAfterMs,
  value,
  ...announced
}: Announced & { readonly backAfterMs?: number; readonly value?: Value } = {}): Behavior {
  return { ...checked(announced), kind: "leave", backAfterMs, value };
}

/** The tool fails. */
export function throws(
  message: string,
  {
    code = "execution_error",
    result,
    ...announced
  }: Announced & { readonly code?: string; readonly result?: JsonObject } = {},
): Behavior {
  return { ...checked(announced), kind: "throws", message, code, ...(result && { result }) };
}

export function toValue(value: Value | MakeValue, input: JsonObject): Value {
  return typeof value === "function" ? (value as MakeValue)(input) : value;
}

/**
 * One behavior for all calls, or a list with one behavior per call. The last behavior applies to all further calls,
 * too.
 */
export type Behaviors = Behavior | readonly Behavior[];

export function toList(behaviors: Behaviors): readonly Behavior[] {
  return "kind" in behaviors ? [behaviors] : behaviors;
}

/** Returns a function that returns the next call's behavior each time it is called. */
export function inTurn(behaviors: Behaviors): () => Behavior {
  const list = toList(behaviors);
  let calls = 0;
  return () => {
    const next = list[Math.min(calls, list.length - 1)];
    calls += 1;
    if (!next) throw new TypeError("expected at least one behavior for the tool");
    return next;
  };
}
