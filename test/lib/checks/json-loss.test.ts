import fc from "fast-check";
import { expect, test } from "vitest";
import { findJsonLoss } from "../../../src/lib/checks/json-loss.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

test.each([
  ['{"a":1,"a":1}', ["a"], "the key appears twice"],
  ['{"a":1,"\\u0061":2}', ["a"], "the key appears twice"],
  [String.raw`{"a\"}":{"b":0},"l":[0,{"x":[],"x":1}]}`, ["l", 1, "x"], "the key appears twice"],
  ['{"__proto__":1,"__proto__":1}', ["__proto__"], "the key appears twice"],
  ['{"n":9007199254740993}', ["n"], "too large for a number, send it as a string"],
  ['{"n":9007199254740993.0}', ["n"], "too large for a number, send it as a string"],
  ['{"n":9.007199254740993e15}', ["n"], "too large for a number, send it as a string"],
  ["[-12345678901234567890]", [0], "too large for a number, send it as a string"],
  ["[0, -1e400]", [1], "too large for a number, send it as a string"],
  [`[1${"0".repeat(500)}]`, [0], "too large for a number, send it as a string"],
  ["[1, 1e-400]", [1], "too small for a number, send it as a string"],
])("in %s the place that JSON.parse would change is found", (text, path, why) => {
  expect(findJsonLoss(text)).toEqual({ path, why });
});

test.each([
  '{"a":{"b":1},"b":{"b":[{"b":2},{"b":3}]}}',
  String.raw`{"a\\":"\\\"","a":"{\"a\":1,\"a\":1}"}`,
  '{"a":"a","b":"a","c":["a","a"]}',
  "[9007199254740991, 9007199254740992, 9007199254740994.0, 1e22, 1e23, 1.5e300, 42308816262691250, -0, 0.1, 3.14159265358979323846, 0e999]",
  "[true, false, null, 1]",
  '"text"',
])("in %s nothing is found", (text) => {
  expect(findJsonLoss(text)).toBeUndefined();
});

test("nothing is found in the output of JSON.stringify", () => {
  const property = fc.property(fc.json(), fc.integer({ min: 0, max: 4 }), (json, space) => {
    expect(findJsonLoss(JSON.stringify(JSON.parse(json), null, space))).toBeUndefined();
  });

  fc.assert(property, { seed: propertySeed(20_261_127), numRuns: propertyRuns(1_000) });
});

test.each([
  ["quotes", `{"a":"${String.raw`\"`.repeat(500_000)}"}`],
  ["digits", `{"a":0.${"0".repeat(1_000_000)}}`],
  ["an exponent", `{"a":0.${"0".repeat(500_000)}1e500002}`],
  ["lists", `${"[".repeat(500_000)}${"]".repeat(500_000)}`],
])("a megabyte of %s is read quickly", (_, text) => {
  const begun = performance.now();
  findJsonLoss(text);

  expect(performance.now() - begun).toBeLessThan(500);
});
