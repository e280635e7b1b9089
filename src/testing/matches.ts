import { isRecord } from "../lib/json.ts";

/** An expected value. An object may omit fields. A RegExp may match any part of a string. */
export type Expected = unknown;

interface Asymmetric {
  readonly asymmetricMatch: (actual: unknown) => boolean;
}

/** Whether a value matches the expected value. Supports asymmetric matchers such as Vitest's `expect.any(String)`. */
export function matches(actual: unknown, expected: Expected): boolean {
  if (expected instanceof RegExp) return typeof actual === "string" && actual.search(expected) >= 0;
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual);
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((each, index) => matches(actual[index], each))
    );
  if (isRecord(expected))
    return isRecord(actual) && Object.entries(expected).every(([key, value]) => matches(actual[key], value));
  return Object.is(actual, expected);
}

/** Whether a string contains another or matches a RegExp. */
export function holds(actual: string, expected: string | RegExp): boolean {
  return typeof expected === "string" ? actual.includes(expected) : actual.search(expected) >= 0;
}

function isAsymmetric(value: unknown): value is Asymmetric {
  return isRecord(value) && typeof value["asymmetricMatch"] === "function";
}
