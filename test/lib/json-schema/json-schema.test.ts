import fc from "fast-check";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { compileJsonSchema } from "../../../src/lib/json-schema/json-schema.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

const THEN = ["th", "en"].join("");
const ifThenElse = (condition: unknown, yes: unknown, no: unknown = true) => ({ if: condition, [THEN]: yes, else: no });

const tree = {
  type: "object",
  properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } },
  required: ["name"],
};

const refused: [string, Record<string, unknown>, unknown, string][] = [
  ["a missing field", { required: ["a"] }, {}, "a: is required"],
  [
    "a field of another type",
    { properties: { a: { type: ["string", "null"] } } },
    { a: 1 },
    "a: expected string or null",
  ],
  ["a fraction", { type: "integer" }, 1.5, ": expected integer"],
  ["a value that is not listed", { enum: ["a", { b: 1 }] }, { b: 2 }, ': expected one of "a", {"b":1}'],
  ["another constant", { const: [1] }, [1, 2], ": expected [1]"],
  ["a number that is too small", { minimum: 2 }, 1, ": expected a number from 2"],
  ["a number at an open bound", { exclusiveMaximum: 2 }, 2, ": expected a number below 2"],
  ["a text that is too long", { maxLength: 2 }, "abc", ": expected at most 2 characters"],
  ["too few items", { minItems: 1 }, [], ": expected at least 1 items"],
  ["an item twice", { uniqueItems: true }, [{ a: 1 }, { a: 1 }], ": expected items without duplicates"],
  ["a text of another pattern", { pattern: "^a+$" }, "ab", ": expected a string that matches ^a+$"],
  ["an unknown field", { properties: { a: {} }, additionalProperties: false }, { b: 1 }, "b: is not a known parameter"],
  [
    "an item deep inside",
    tree,
    { name: "a", children: [{ name: "b", children: [{}] }] },
    "children.0.children.0.name: is required",
  ],
  ["no alternative", { anyOf: [{ type: "string" }, { type: "null" }] }, 1, ": does not match any of the alternatives"],
  [
    "two alternatives",
    { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
    3,
    ": does not match exactly one of the alternatives",
  ],
  ["a field of the prototype", { required: ["toString"] }, {}, "toString: is required"],
];
test.each(refused)("%s is refused, with the location", (_title, ...[schema, value, expected]) => {
  const problem = compileJsonSchema(schema)(value);

  expect(`${problem?.path.join(".")}: ${problem?.message}`).toBe(expected);
});

const huge = Array.from({ length: 30_000 }, (_, index) => index);
const doubling = (depth: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: depth }, (_, level) => [`d${level}`, both(`#/$defs/d${level + 1}`)]));
const both = ($ref: string) => ({ allOf: [{ $ref }, { $ref }] });

test.each([
  ["looks at each value a billion times", { ...both("#/$defs/d0"), $defs: { ...doubling(30), d30: {} } }, 1],
  ["leads to itself", { $ref: "#" }, 1],
  ["leads to itself by another", { $ref: "#/$defs/a", $defs: { a: { anyOf: [{ $ref: "#" }] } } }, 1],
  ["compares each item with each other", { uniqueItems: true }, huge],
  ["looks for each item in a long list", { items: { enum: huge } }, huge.toReversed()],
  [
    "counts a long text again and again",
    { allOf: Array.from({ length: 2_000 }, () => ({ minLength: 1 })) },
    "é".repeat(1e6),
  ],
])("a schema that %s takes a limited number of steps, and refuses", (_title, schema, value) => {
  const check = compileJsonSchema(schema, { isForeign: true });

  expect(check(value)?.message).toBe("checking them takes too long");
});

test("parts of a foreign schema that cannot be checked count as a match, and never as a mismatch", () => {
  const opposite = { pattern: "^b" };
  const check = compileJsonSchema(
    {
      properties: {
        text: { pattern: "^b", type: "string" },
        not: { not: opposite },
        oneOf: { oneOf: [opposite, { minLength: 1 }] },
        if: ifThenElse(opposite, false),
        away: { $ref: "https://example.com/a.json" },
      },
      patternProperties: { "^x": { type: "number" } },
      additionalProperties: false,
    },
    { isForeign: true },
  );

  expect(check({ text: "a", not: "a", oneOf: "a", if: "a", away: "a", x1: "a" })).toBeUndefined();
  expect(check({ text: 1 })).toEqual({ path: ["text"], message: "expected string" });
});

test.each([
  ["an unknown type", { type: "text" }],
  ["a pattern that is none", { properties: { a: { pattern: "(" } } }],
  ["a reference that leads nowhere", { $ref: "#/$defs/a" }],
  ["a reference to elsewhere", { $ref: "https://example.com/a.json" }],
])("a schema with %s cannot be used", (_title, schema) => {
  expect(() => compileJsonSchema(schema)).toThrow(/^its (type|reference)|^Invalid regular expression/);
});

const leaf = fc.oneof(
  fc.constantFrom(..."string number integer boolean null array object".split(" ")).map((type) => ({ type })),
  fc.record({ minimum: fc.integer({ min: -2, max: 2 }) }),
  fc.record({ maximum: fc.integer({ min: -2, max: 2 }) }),
  fc.record({ minLength: fc.nat(2) }),
  fc.record({ maxItems: fc.nat(2) }),
  fc.record({ minProperties: fc.nat(2) }),
  fc.record({ multipleOf: fc.constantFrom(1, 2, 0.5) }),
  fc.record({ const: fc.constantFrom(1, "a", null, [1]) }),
  fc.record({ pattern: fc.constantFrom("^a", "b$") }),
  fc.record({ required: fc.uniqueArray(fc.constantFrom("a", "b")) }),
  fc.constant({ uniqueItems: true }),
);
const { schema: schemas } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.record({
      properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
      additionalProperties: fc.boolean(),
    }),
    fc.record({ patternProperties: fc.record({ "^a": tie("schema") }), additionalProperties: tie("schema") }),
    fc.record({ prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }), items: tie("schema") }),
    fc
      .constantFrom("anyOf", "oneOf", "allOf")
      .chain((word) => fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((list) => ({ [word]: list }))),
    tie("schema").map((not) => ({ not })),
    fc.tuple(tie("schema"), tie("schema"), tie("schema")).map((parts) => ifThenElse(...parts)),
    fc.record(
      { contains: tie("schema"), minContains: fc.nat(2), maxContains: fc.nat(2) },
      { requiredKeys: ["contains"] },
    ),
    fc.record({ propertyNames: tie("schema"), dependentSchemas: fc.record({ a: tie("schema") }) }),
    fc.constant({ dependentRequired: { a: ["b"] } }),
  ),
}));
const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 0, 1, 2, 0.5, "", "a", "ab", "b", "𝄞"),
    fc.array(tie("value"), { maxLength: 3 }),
    // The objects have a prototype, like those that JSON.parse creates. ajv treats objects without a prototype
    // differently.
    fc.dictionary(fc.constantFrom("a", "b", "ab", "c"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const RUNS = propertyRuns(1_000);

test("exactly the values that ajv accepts are accepted", { timeout: 20_000 + RUNS * 20 }, () => {
  const ajv = new Ajv2020({ strict: false, allowUnionTypes: true });
  const agrees = (schema: Record<string, unknown>, value: unknown) =>
    (compileJsonSchema(schema)(value) === undefined) === ajv.validate(schema, value);

  const { counterexample } = fc.check(fc.property(schemas, values, agrees), {
    seed: propertySeed(5),
    numRuns: RUNS,
  });

  expect(counterexample).toBeNull();
});
