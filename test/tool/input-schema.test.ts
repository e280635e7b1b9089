import { expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../src/lib/json.ts";
import { compileForeignSchema, compileInputSchema, InvalidInputError } from "../../src/tool/input-schema.ts";
import { cpuMs } from "../support/cpu-ms.ts";

const object = (more: JsonObject = {}): JsonObject => ({ type: "object", ...more });
function problemOf(schema: Parameters<typeof compileInputSchema>[0], input: unknown): string {
  try {
    compileInputSchema(schema).parse(input);
    return "";
  } catch (error) {
    return error instanceof InvalidInputError ? error.message : `not an InvalidInputError: ${String(error)}`;
  }
}

test.each([
  ["a field", { a: "secret" }, 'Invalid parameter "a": must be number'],
  ["a missing field", {}, `Invalid parameter "a": must have required property 'a'`],
  [
    "a nested field",
    { a: 1, deep: { list: [{}] } },
    `Invalid parameter "deep.list.0.b": must have required property 'b'`,
  ],
  ["a field with a slash", { a: 1, "x/y~z": 1 }, 'Invalid parameter "x/y~z": must be string'],
  ["one field too many", { a: 1, more: 1 }, 'Invalid parameter "more": must NOT have additional properties'],
  ["no object", [], "Invalid parameters: must be object"],
])("JSON Schema: the error contains %s", (_, input, problem) => {
  const item = object({ required: ["b"] });
  const schema = object({
    properties: {
      a: { type: "number" },
      deep: object({ properties: { list: { type: "array", items: item } } }),
      "x/y~z": { type: "string" },
    },
    required: ["a"],
    additionalProperties: false,
  });

  expect(problemOf(schema, input)).toBe(problem);
});

test.each([
  ["a field", { a: "secret" }, /^Invalid parameter "a": /],
  ["a nested field", { a: 1, deep: [{}] }, /^Invalid parameter "deep\.0\.b": /],
  ["no object", [], /^Invalid parameters: /],
])("zod: the error contains %s, but not its value", (_, input, problem) => {
  const message = problemOf(z.object({ a: z.number(), deep: z.array(z.object({ b: z.string() })).optional() }), input);

  expect(message).toMatch(problem);
  expect(message).not.toContain("secret");
});

test("zod's defaults and conversions reach the tool", () => {
  const schema = compileInputSchema(
    z.object({ n: z.number().default(3), list: z.string().transform((text) => text.split(",")) }),
  );

  expect(schema.parse({ list: "a,b" })).toEqual({ n: 3, list: ["a", "b"] });
});

test.each([
  ["nothing", undefined],
  ["a list", []],
  ["a string schema", { type: "string" }],
  ["a zod string", z.string()],
  [
    "a choice of objects",
    z.discriminatedUnion("k", [z.object({ k: z.literal("a") }), z.object({ k: z.literal("b") })]),
  ],
])("%s is not a valid tool input", (_, schema) => {
  expect(() => compileInputSchema(schema as never)).toThrow("root must have type");
});

test.each(["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", "x:y"])(
  "a schema may say that it was written for %s",
  ($schema) => {
    expect(problemOf(object({ $schema, properties: { a: { type: "string" } } }), { a: 1 })).toContain('"a"');
    expect(() => compileForeignSchema(object({ $schema }))).not.toThrow();
  },
);

test("an announced pattern that would take forever costs nothing", () => {
  const schema = compileForeignSchema(object({ properties: { a: { type: "string", pattern: "^(a+)+$" } } }));
  const startedAt = cpuMs();
  schema.parse({ a: `${"a".repeat(50_000)}!` });

  expect(cpuMs() - startedAt).toBeLessThan(100);
});

test("an announced schema cannot make its check asynchronous, and so always true", () => {
  const schema = compileForeignSchema(object({ $async: true, properties: { a: { type: "string" } } }));

  expect(() => schema.parse({ a: 1 })).toThrow(InvalidInputError);
});

test("an announced schema cannot point elsewhere", () => {
  const schema = compileForeignSchema(object({ $id: "http://evil/", properties: { a: { $ref: "http://evil/x" } } }));

  expect(schema.parse({ a: 1 })).toEqual({ a: 1 });
});

test("parameters may be named like keywords and an object's own methods", () => {
  const schema = compileForeignSchema(
    object({
      properties: { pattern: { type: "string" }, $ref: { type: "number" }, constructor: { type: "string" } },
      required: ["pattern", "toString"],
    }),
  );

  expect(() => schema.parse({ toString: 1 })).toThrow('"pattern"');
  expect(() => schema.parse({ pattern: "x" })).toThrow('"toString"');
  expect(() => schema.parse({ pattern: "x", toString: 1, $ref: "1" })).toThrow('"$ref"');
  expect(schema.parse({ pattern: "x", toString: 1 })).toEqual({ pattern: "x", toString: 1 });
});

test("text in a schema is never executed", () => {
  const name = "'];globalThis.broken=1;//`${globalThis.broken=1}`";
  const schema = compileForeignSchema(object({ properties: { [name]: { enum: [name] } }, required: [name] }));

  expect(() => schema.parse({})).toThrow(InvalidInputError);
  expect(() => schema.parse({ [name]: "other" })).toThrow(InvalidInputError);
  expect("broken" in globalThis).toBe(false);
});

test.each([{ multipleOf: 0 }, { type: "strin" }, { items: [{}] }])(
  "an invalid schema (%j) cannot be compiled",
  (wrong) => {
    expect(() => compileForeignSchema(object({ properties: { a: wrong as JsonObject } }))).toThrow(
      /schema is invalid|its type/,
    );
  },
);

test("zod: a parameter may have the name of a property that every object inherits", () => {
  const { parse } = compileInputSchema(
    z.object({
      constructor: z.string(),
      toString: z.string().optional(),
      valueOf: z.number().default(3),
      more: z.json(),
    }),
  );
  const input = { constructor: "Ferrari", more: { prototype: [{ constructor: 1 }] } };
  const parsed = parse(input) as typeof input;

  expect(parsed).toEqual({ ...input, valueOf: 3 });
  expect(Object.getPrototypeOf(parsed.more)).toBe(Object.prototype);
  expect(() => parse({ more: 1 })).toThrow(
    'Invalid parameter "constructor": Invalid input: expected string, received undefined',
  );
});

test("zod: parameters that it would drop are reported", () => {
  const schema = z.object({ names: z.record(z.string(), z.number()) });

  expect(problemOf(schema, JSON.parse('{"names":{"__proto__":1}}'))).toBe(
    'Invalid parameter "names.__proto__": this parameter name is not allowed',
  );
});

test.each([
  ["the worker's", compileInputSchema],
  ["a participant's", compileForeignSchema],
])("JSON Schema, %s: unusual names are parameters like any other", (_, compile) => {
  const names = ["constructor", "prototype", "toString"];
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  const { parse } = compile(object({ properties, required: names }));
  const input = JSON.parse('{"constructor":"a","prototype":"b","toString":"c","more":{"__proto__":{"d":1}}}') as object;

  expect(JSON.stringify(parse(input))).toBe(JSON.stringify(input));
  expect(() => parse({})).toThrow(/constructor/u);
});

test("a participant's JSON Schema validates a parameter __proto__", () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as JsonObject;
  const { parse } = compileForeignSchema(schema);

  expect(() => parse(JSON.parse('{"__proto__":1}'))).toThrow('Invalid parameter "__proto__": expected string');
  expect(JSON.stringify(parse(JSON.parse('{"__proto__":"a"}')))).toBe('{"__proto__":"a"}');
});

test.each([
  ["a date", z.object({ when: z.date() }), "input.when: Date cannot be represented in JSON Schema"],
  [
    "a nested one",
    z.object({ name: z.string(), trip: z.object({ stops: z.array(z.object({ at: z.date().optional() })) }) }),
    "input.trip.stops[].at: Date cannot be represented in JSON Schema",
  ],
  ["one among others", z.object({ a: z.string(), b: z.bigint(), c: z.number() }), "input.b: BigInt cannot be"],
  ["one in a field named items", z.object({ items: z.object({ properties: z.symbol() }) }), "input.items.properties: "],
  ["the input itself", z.map(z.string(), z.string()), "input: Map cannot be represented in JSON Schema"],
])("the field that JSON Schema cannot represent is named: %s", (_, schema, message) => {
  expect(() => compileInputSchema(schema)).toThrow(message);
});
