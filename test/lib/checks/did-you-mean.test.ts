import { expect, test } from "vitest";
import { z } from "zod";
import { describeIssue } from "../../../src/lib/checks/describe-issue.ts";
import { didYouMean, refuseUnknownFields } from "../../../src/lib/checks/did-you-mean.ts";

const FIELDS = ["description", "input", "run", "permission", "timeoutMs", "readOnly"];

test.each([
  ["permissions", "permission"],
  ["timeoutMS", "timeoutMs"],
  ["readonly", "readOnly"],
  ["timeout", "timeoutMs"],
  ["descripton", "description"],
  ["rnu", "run"],
  ["parameters", "input"],
  ["execute", "run"],
])("for %s the suggestion is %s", (name, meant) => {
  expect(didYouMean(name, FIELDS)).toBe(` Did you mean "${meant}"?`);
});

test.each(["color", "in", "constructor", ""])("there is no suggestion for %j", (name) => {
  expect(didYouMean(name, FIELDS)).toBe("");
});

test("an error lists each unknown field", () => {
  expect(() => refuseUnknownFields({ run: 1, permissions: 2, color: 3 }, FIELDS, "defineTool")).toThrow(
    new TypeError(
      '"permissions" is not a field of defineTool. Did you mean "permission"? "color" is not a field of defineTool.',
    ),
  );
});

test.each([
  [{ limts: {} }, 'limts: unknown field. Did you mean "limits"?'],
  [{ limits: { tokns: 1 } }, 'limits.tokns: unknown field. Did you mean "tokens"?'],
  [{ rules: [{ tpye: "x" }] }, 'rules.0.tpye: unknown field. Did you mean "type"?'],
  [{ servers: { shop: { comand: "x" } } }, 'servers.shop.comand: unknown field. Did you mean "command"?'],
  [{ zzz: 1 }, "zzz: unknown field."],
])("a checked value with an unknown field is described: %j", (value, expected) => {
  const schema = z.strictObject({
    limits: z.strictObject({ tokens: z.number().default(1) }).prefault({}),
    rules: z.array(z.strictObject({ type: z.string().optional() })).default([]),
    servers: z.record(z.string(), z.strictObject({ command: z.string().optional() })).optional(),
  });
  const { error } = schema.safeParse(value);

  expect(error?.issues.map((issue) => describeIssue(issue, value, schema))).toEqual([expected]);
});
