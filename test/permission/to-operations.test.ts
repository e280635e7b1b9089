import { expect, test } from "vitest";
import { evaluateRules } from "../../src/permission/evaluate-rules.ts";
import type { Action, PermissionRule, PermissionInput } from "../../src/permission/rule.ts";
import { toOperations } from "../../src/permission/to-operations.ts";

const rule = (pattern: string, action: Action, type = "read"): PermissionRule => ({ type, pattern, action });
const decided = (wish: Partial<PermissionInput>, ...rules: readonly PermissionRule[]) =>
  evaluateRules(toOperations({ type: "read", values: [], ...wish }), rules);

test.each([".env", "./.env", ".env/", "a/../.env", "a//.././/.env", "a/.env", "./a//b/../.env/."])(
  "%j is among the files that a rule denies",
  (path) => {
    expect(decided({ values: [path] }, rule("**", "allow"), rule("**/.env", "deny"))).toBe("deny");
  },
);

test.each(["secrets/**", "./secrets/**", "secrets/", "secrets//**", "./././secrets/./**", "secrets"])(
  "a rule that denies %j also denies the folder",
  (pattern) => {
    expect(decided({ values: ["secrets"] }, rule("**", "allow"), rule(pattern, "deny"))).toBe("deny");
  },
);

test.each([
  "a/../secrets",
  "/secrets",
  "/a/../secrets/",
  "a/b/../../secrets/**",
  "*/../secrets",
  "**/../secrets",
  "./a/.././secrets",
])("a rule that denies %j also denies the folder from the root", (pattern) => {
  expect(decided({ values: ["secrets"] }, rule("**", "allow"), rule(pattern, "deny"))).toBe("deny");
  expect(decided({ values: ["secrets"] }, rule("**", "allow"), rule(pattern, "ask"))).toBe("ask");
});

test("a rule with a leading slash only allows what starts with that slash", () => {
  expect(decided({ values: ["notes/a"] }, rule("/notes/**", "allow"))).toBe("ask");
  expect(decided({ values: ["/notes/a"] }, rule("/notes/**", "allow"))).toBe("allow");
  expect(decided({ values: ["notes/a"] }, rule("/srv/../notes/**", "deny"), rule("**", "allow"))).toBe("deny");
});

test("a rule whose path ends with a slash applies to everything below", () => {
  expect(decided({ values: ["secrets/deep/key"] }, rule("**", "allow"), rule("secrets/", "deny"))).toBe("deny");
});

test("a path that leads out of its folder is not allowed by a rule for the folder", () => {
  expect(decided({ values: ["notes/../../x"] }, rule("notes/**", "allow"))).toBe("ask");
  expect(decided({ values: ["../x"] }, rule("**/x", "allow"))).toBe("ask");
  expect(decided({ type: "paper", values: ["notes/../x"] }, rule("notes/**", "allow", "paper"))).toBe("ask");
  expect(decided({ values: ["../x"] }, rule("**", "allow"))).toBe("allow");
});

test("on a case-insensitive file system a denial counts in any case, and only the written case is allowed", () => {
  const wish = { values: [".ENV"], ignoresCase: true };

  expect(decided(wish, rule("**", "allow"), rule("**/.Env", "deny"))).toBe("deny");
  expect(decided({ ...wish, ignoresCase: false }, rule("**", "allow"), rule(".env", "deny"))).toBe("allow");
  expect(decided(wish, rule(".env", "allow"))).toBe("ask");
  expect(decided({ values: ["cafe\u0301"], ignoresCase: true }, rule("CAF\u00c9", "deny"))).toBe("deny");
});

test("a value stays unchanged, whatever it looks like", () => {
  expect(decided({ values: ["*"] }, rule("a", "allow"))).toBe("ask");
  expect(decided({ values: ["app/[id]/x"] }, rule("**", "allow"), rule("app/[id]/**", "deny"))).toBe("deny");
  expect(decided({ values: ["a(1)!.md"] }, rule("a(1)!.md", "deny"))).toBe("deny");
});

test("values of other types stay unchanged", () => {
  const url = "https://example.com/a";

  expect(toOperations({ type: "web", values: [url] })).toMatchObject([{ type: "web", value: url }]);
});
