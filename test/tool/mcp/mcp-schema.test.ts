import { expect, test } from "vitest";
import { compileMcpSchema } from "../../../src/tool/mcp/mcp-schema.ts";

const text = { type: "string" };

test.each(["anyOf", "oneOf"])(
  "the parameters in a root's %s are shown, and required if every alternative requires them",
  (word) => {
    const page = { type: "object", properties: { kind: { const: "page" }, id: text }, required: ["kind", "id"] };
    const block = { type: "object", properties: { kind: { const: "block" }, text }, required: ["kind"] };
    const { jsonSchema, parse } = compileMcpSchema({ type: "object", [word]: [page, block] });

    expect(jsonSchema).toEqual({
      type: "object",
      properties: { kind: { anyOf: [{ const: "page" }, { const: "block" }] }, id: text, text },
      required: ["kind"],
    });
    expect(parse({ kind: "block" })).toEqual({ kind: "block" });
    expect(() => parse({ kind: "page" })).toThrow("alternative");
  },
);

test("the parts of a root's allOf are merged, references included", () => {
  const { jsonSchema } = compileMcpSchema({
    allOf: [{ $ref: "#/$defs/Base" }, { properties: { more: text } }],
    $defs: { Base: { type: "object", properties: { id: text }, required: ["id"] } },
  });

  expect(jsonSchema).toMatchObject({ properties: { id: text, more: text }, required: ["id"] });
});

test.each([
  ["an empty list of PHP", { type: "object", properties: [] }],
  ["no type", { properties: { a: text } }],
  ["no schema", undefined],
  ["a limit of draft 4", { type: "object", properties: { a: { type: "number", exclusiveMinimum: true } } }],
  ["a tuple of draft 7", { type: "object", properties: { a: { type: "array", items: [text] } } }],
  ["keywords that are null", { type: "object", required: null, additionalProperties: null }],
  ["a type of another language", { type: "object", properties: { a: { type: "any" } } }],
  ["a property that is a text", { type: "object", properties: { a: "string" } }],
])("a schema with %s loses the keyword, but the tool stays", (_what, schema) => {
  const { jsonSchema, parse } = compileMcpSchema(schema);

  expect(jsonSchema["type"]).toBe("object");
  expect(parse({ b: 5 })).toEqual({ b: 5 });
});

test("the rest of such a schema is still checked", () => {
  const { parse } = compileMcpSchema({ type: "object", properties: { a: { type: "any" }, b: text }, required: ["b"] });

  expect(() => parse({ a: 5 })).toThrow("b");
});

test("a required parameter with a default may be left out", () => {
  const { parse } = compileMcpSchema({
    type: "object",
    properties: { url: text, scale: { type: "number", default: 1 } },
    required: ["url", "scale"],
  });

  expect(parse({ url: "a" })).toEqual({ url: "a" });
  expect(() => parse({ scale: 1 })).toThrow("url");
});

test("an optional parameter whose name the model's API refuses is not shown; a required one excludes the tool", () => {
  const properties = { $top: text, filter: { type: "object", properties: { "uids[]": text, a: text } } };

  expect(compileMcpSchema({ type: "object", properties }).jsonSchema).toEqual({
    type: "object",
    properties: { filter: { type: "object", properties: { a: text } } },
  });
  expect(() => compileMcpSchema({ type: "object", properties, required: ["$top"] })).toThrow('"$top"');
});
