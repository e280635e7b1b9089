import { expect, test } from "vitest";
import { z } from "zod";
import { describeIssue } from "../../../src/lib/checks/describe-issue.ts";

const schema = z.strictObject({
  name: z.string().optional(),
  headers: z.record(z.string(), z.string().max(3)).optional(),
  apiKey: z.number().optional(),
  model: z.strictObject({ maxTokens: z.number(), url: z.url() }).partial().optional(),
  list: z.array(z.number()).optional(),
  phrases: z.record(z.string().regex(/^[a-z]{2}$/u, "expected a language such as en"), z.string()).optional(),
});

const describe = (value: unknown) =>
  schema.safeParse(value).error?.issues.map((issue) => describeIssue(issue, value, schema)) ?? [];

test("a wrong value is described by its path and its type", () => {
  expect(describe({ model: { maxTokens: "many" }, list: ["a"] })).toEqual([
    'model.maxTokens: expected number, got "many"',
    'list.0: expected number, got "a"',
  ]);
});

test("a wrong key is described by what was expected of it", () => {
  expect(describe({ phrases: { english: "x" } })).toEqual([
    'phrases.english: expected a language such as en, got "english"',
  ]);
});

test.each([
  { headers: { Authorization: "Bearer sk-secret" } },
  { apiKey: "sk-secret" },
  { model: { url: "//user:sk-secret@host" } },
  { model: "x", name: { key: "sk-secret" } },
  { list: { token: "sk-secret" } },
  [{ apiKey: "sk-secret" }],
  { model: [{ password: "sk-secret" }] },
  { secret: "sk-secret" },
])("a value that may be a key is never shown (%#)", (value) => {
  expect(describe(value)).not.toEqual([]);
  expect(describe(value).join("\n")).not.toContain("sk-");
});
