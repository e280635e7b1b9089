import fc from "fast-check";
import { expect, test } from "vitest";
import { compileJsonSchema } from "../../../src/lib/json-schema/json-schema.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

// Whatever schema a stranger announces, and whatever the model writes for it, a check must not delay other sessions.

const MOST_MS = 20;
const DEFINITIONS = ["a", "b", "c"];

const small = fc.constantFrom<unknown>([], {}, 0, 1, "x", null, true, { k: 0 });
const many = fc.integer({ min: 1, max: 3_000 });
const listOf = (item: unknown) => many.map((length) => Array.from({ length }, () => item));
const reference = fc.constantFrom(...DEFINITIONS).map((name) => ({ $ref: `#/$defs/${name}` }));
const inner = fc.oneof(reference, fc.constantFrom<unknown>(true, false, {}));
const names = many.map((length) => Array.from({ length }, (_, index) => `k${index}`));

const schema = fc.oneof(
  small.chain(listOf).map((values) => ({ enum: values })),
  many.map((length) => ({ type: Array.from({ length }, (_, index) => (index % 2 ? "string" : "null")) })),
  inner.chain(listOf).map((allOf) => ({ allOf })),
  inner.chain(listOf).map((anyOf) => ({ anyOf })),
  inner.chain(listOf).map((oneOf) => ({ oneOf })),
  inner.chain(listOf).map((prefixItems) => ({ prefixItems })),
  inner.map((items) => ({ items })),
  inner.map((contains) => ({ contains, minContains: 2 })),
  inner.map((not) => ({ not })),
  inner.map((additionalProperties) => ({ additionalProperties })),
  inner.map((propertyNames) => ({ propertyNames })),
  names.map((required) => ({ required })),
  names.map((keys) => ({ properties: Object.fromEntries(keys.map((key) => [key, true])) })),
  names.map((keys) => ({ dependentRequired: { k0: keys } })),
  fc.constant({ uniqueItems: true }),
  fc.nat(70_000).map((maxLength) => ({ maxLength })),
);

const value = fc.oneof(
  small.chain(listOf),
  names.map((keys) => Object.fromEntries(keys.map((key) => [key, 0]))),
  fc.nat(64_000).map((length) => "x".repeat(length)),
  fc.nat(400).map((depth) => Array.from({ length: depth }).reduce<unknown>((whole) => [whole], 0)),
);

test("no schema and no value makes a check slow", { timeout: 120_000 }, () => {
  const definitions = fc.tuple(...DEFINITIONS.map(() => fc.array(schema, { minLength: 1, maxLength: 3 })));
  fc.assert(
    fc.property(definitions, value, (parts, given) => {
      const $defs = Object.fromEntries(
        DEFINITIONS.map((name, index) => [name, Object.assign({}, ...(parts[index] ?? []))]),
      );
      const root = { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs };
      const check = compileJsonSchema(root, { isForeign: true });

      // Takes the fastest of three runs, because the machine may be busy.
      const times = [0, 1, 2].map(() => {
        const from = performance.now();
        check({ a: given });
        return performance.now() - from;
      });

      expect(Math.min(...times)).toBeLessThan(MOST_MS);
    }),
    { numRuns: propertyRuns(300), seed: propertySeed() },
  );
});
