import { expect, test } from "vitest";
import { z } from "zod";
import { parseField, readForm } from "../../../src/protocol/forms/form.ts";

test("the fields of a form are the schema's properties, in their order", () => {
  const fields = readForm({
    type: "object",
    properties: {
      name: { type: "string", title: "Your name", description: "In full", default: "Ana" },
      size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
      age: { type: "integer", default: "many" },
    },
    required: ["size"],
  });

  expect(fields).toMatchObject([
    { name: "name", type: "string", label: "Your name", description: "In full", isRequired: false, initial: "Ana" },
    {
      name: "size",
      type: "choice",
      label: "size",
      isRequired: true,
      choices: [
        { value: "s", label: "Small" },
        { value: "l", label: "Large" },
      ],
    },
    { name: "age", type: "integer", initial: undefined },
  ]);
});

test("a form may be written with zod", () => {
  const schema = z.object({
    mail: z.email(),
    many: z.int().optional(),
    drink: z.enum(["tea", "coffee"]),
    ok: z.boolean(),
  });
  const fields = readForm(z.toJSONSchema(schema, { io: "input" }));

  expect(fields.map(({ type, format, isRequired }) => [type, format, isRequired])).toEqual([
    ["string", "email", true],
    ["integer", undefined, false],
    ["choice", undefined, true],
    ["boolean", undefined, true],
  ]);
});

test.each([
  { format: "email", right: "ana@example.org", wrong: "ana at example", problem: "expected an email address" },
  {
    format: "uri",
    right: "https://a.example/b",
    wrong: "b",
    problem: "expected an address such as https://example.com",
  },
  { format: "date", right: "2024-02-29", wrong: "2023-02-29", problem: "expected a date such as 2026-03-31" },
  { format: "date", right: "1999-12-31", wrong: "31.12.1999", problem: "expected a date such as 2026-03-31" },
])("a field with the format $format accepts $right and not $wrong", ({ format, right, wrong, problem }) => {
  const [field] = readForm({ properties: { a: { type: "string", format } } });

  expect(field && parseField(field, right)).toEqual({ value: right });
  expect(field && parseField(field, wrong)).toEqual({ problem });
});

test("an unknown format accepts any text", () => {
  const [field] = readForm({ properties: { a: { type: "string", format: "toString" } } });

  expect(field && parseField(field, "x")).toEqual({ value: "x" });
});

test.each([
  [{ type: "object" }, "expected an object with properties"],
  [{ type: "array", properties: {} }, 'expected the type "object"'],
  [{ properties: { a: { type: "object" } } }, "properties.a: expected a string, number, integer, boolean, enum"],
  [{ properties: { a: { type: "array", items: { type: "string" } } } }, "enum, or array of an enum"],
  [{ properties: { a: { type: "array", enum: ["x"] } } }, "properties.a: expected a string"],
  [{ properties: { a: { enum: [null] } } }, "properties.a: expected a string"],
  [{ properties: {}, required: ["b"] }, "required lists an unknown property: b"],
  [
    { properties: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`f${n}`, { type: "string" }])) },
    "more than 32",
  ],
])("%j is no form: %s", (schema, why) => {
  expect(() => readForm(schema)).toThrow(why);
});

test("an array of an enum is a multiple choice as in MCP, with titles and without", () => {
  const items = { anyOf: [{ const: "r", title: "Red" }, { const: "g" }] };
  const fields = readForm({
    properties: {
      plain: { type: "array", items: { type: "string", enum: ["x", "y"] }, default: ["y"] },
      titled: { type: "array", items, default: ["blue"] },
    },
  });

  expect(fields).toMatchObject([
    { type: "choices", choices: [{ value: "x", label: "x" }, { value: "y" }], initial: ["y"] },
    {
      type: "choices",
      choices: [
        { value: "r", label: "Red" },
        { value: "g", label: "g" },
      ],
      initial: undefined,
    },
  ]);
});

const [color, age, ratio, agreed, code, extras, none] = readForm({
  properties: {
    color: {
      type: "string",
      oneOf: [
        { const: "r", title: "Red" },
        { const: "g", title: "Green" },
      ],
    },
    age: { type: "integer", minimum: 18 },
    ratio: { type: "number" },
    agreed: { type: "boolean" },
    code: { type: "string", maxLength: 3 },
    extras: { type: "array", items: { enum: ["ham", "egg", "2"] }, minItems: 1, maxItems: 2 },
    none: { type: "array", items: { enum: ["ham"] } },
  },
});

test.each([
  [color, "red", { value: "r" }],
  [color, "g", { value: "g" }],
  [color, "2", { value: "g" }],
  [color, "3", { problem: "expected one of Red, Green" }],
  [age, " 21 ", { value: 21 }],
  [age, "17", { problem: "expected a number from 18" }],
  [age, "1.5", { problem: "expected a whole number" }],
  [ratio, "1,5", { value: 1.5 }],
  [ratio, "", { problem: "expected a number" }],
  [agreed, "Y", { value: true }],
  [agreed, "no", { value: false }],
  [agreed, "perhaps", { problem: "expected yes or no" }],
  [code, "abc", { value: "abc" }],
  [code, "abcd", { problem: "expected at most 3 characters" }],
  [extras, "Ham, 2", { value: ["ham", "2"] }],
  [extras, " 1 , 1,, ", { value: ["ham"] }],
  [extras, "1, 9", { problem: "expected any of ham, egg, 2, separated by commas" }],
  [extras, "", { problem: "expected at least 1 items" }],
  [extras, "ham, egg, 2", { problem: "expected at most 2 items" }],
  [none, "", { value: [] }],
])("for %o somebody types %j: %j", (field, typed, read) => {
  expect(field && parseField(field, typed)).toEqual(read);
});
