import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluateRules, isGranted } from "../../src/permission/evaluate-rules.ts";
import type { Action, PermissionRule } from "../../src/permission/rule.ts";
import { toOperations } from "../../src/permission/to-operations.ts";

const rule = (pattern: string, action: Action, type = "write"): PermissionRule => ({ type, pattern, action });
const operation = (value: string, type = "write") => ({ type, value });

test("when no rule matches, the answer is ask", () => {
  expect(evaluateRules([operation("a")], [])).toBe("ask");
  expect(evaluateRules([operation("a")], [rule("b", "allow"), rule("a", "allow", "read")])).toBe("ask");
});

test("the last rule that matches wins", () => {
  expect(evaluateRules([operation("notes/a")], [rule("**", "allow"), rule("notes/*", "ask")])).toBe("ask");
  expect(evaluateRules([operation("notes/a")], [rule("notes/*", "ask"), rule("**", "allow")])).toBe("allow");
});

test("a deny wins wherever it is listed", () => {
  expect(evaluateRules([operation("notes/a")], [rule("notes/*", "deny"), rule("**", "allow")])).toBe("deny");
});

test("a call that does several things needs permission for all of them", () => {
  const rules = [rule("a", "allow"), rule("b", "deny")];
  expect(evaluateRules([operation("a"), operation("c")], rules)).toBe("ask");
  expect(evaluateRules([operation("c"), operation("b"), operation("a")], rules)).toBe("deny");
  expect(evaluateRules([operation("a"), operation("a")], rules)).toBe("allow");
});

test("a call whose effects are unknown is asked about", () => {
  expect(evaluateRules([], [rule("**", "allow", "*")])).toBe("ask");
});

test("a grant must cover all patterns of a call to count", () => {
  expect(isGranted({ type: "write", values: ["notes/a", "notes/b"] }, ["notes/*"])).toBe(true);
  expect(isGranted({ type: "write", values: ["notes/a", "todo"] }, ["notes/*"])).toBe(false);
  expect(isGranted({ type: "write", values: [] }, ["**"])).toBe(false);
});

test("grants from 0.1.0 count: their backslashes say what follows, and a line of several commands had a mark", () => {
  const granted = [String.raw`notes/\[1\]\(a\)\!.md`, "; make \\&& make", "git status", "; make && make"];

  expect(isGranted({ type: "write", values: ["notes/[1](a)!.md"] }, granted)).toBe(true);
  expect(isGranted({ type: "bash", values: ["make && make"] }, granted)).toBe(true);
  expect(isGranted({ type: "bash", values: ["git status"] }, granted)).toBe(true);
  expect(isGranted({ type: "bash", values: ["git status; make"] }, granted)).toBe(false);
});

const pattern = fc.constantFrom("a", "b", "a/b", "*", "a/*", "**", "git *", "git push");
const action = fc.constantFrom<Action>("allow", "ask", "deny");
const type = fc.constantFrom("read", "write", "*");
const rules = fc.array(fc.record({ type, pattern, action }), { maxLength: 8 });
const operations = fc.array(fc.record({ type: fc.constantFrom("read", "write"), value: pattern }), {
  minLength: 1,
  maxLength: 4,
});

test("whatever the rules are, one more deny is never more permissive, and a deny counts in any order", () => {
  const strictness: readonly Action[] = ["allow", "ask", "deny"];
  fc.assert(
    fc.property(
      operations,
      rules,
      fc.tuple(fc.record({ type, pattern }), fc.nat(8)),
      (wanted, given, [denied, place]) => {
        const before = evaluateRules(wanted, given);
        const after = evaluateRules(wanted, given.toSpliced(place, 0, { ...denied, action: "deny" }));
        expect(strictness.indexOf(after)).toBeGreaterThanOrEqual(strictness.indexOf(before));
        expect(evaluateRules(wanted, given.toReversed()) === "deny").toBe(before === "deny");
      },
    ),
  );
});

test("nothing is allowed unless each thing alone is allowed", () => {
  fc.assert(
    fc.property(operations, rules, (wanted, given) => {
      const isEachAllowed = wanted.every((each) => evaluateRules([each], given) === "allow");
      expect(evaluateRules(wanted, given) === "allow").toBe(isEachAllowed);
    }),
  );
});

const secretFiles: PermissionRule[] = [
  { type: "glob", pattern: "**", action: "allow" },
  { type: "glob", pattern: "secrets/**", action: "deny" },
];

test.each(["secrets/**", "./secrets/**", "/secrets/a", "a/../secrets/*"])(
  "a glob rule that denies a folder denies %s",
  (pattern) => {
    expect(evaluateRules(toOperations({ type: "glob", values: [pattern] }), secretFiles)).toBe("deny");
  },
);

test.each(["s*/**", "[s]ecrets/*", "**", "?ecrets/a", "{a,secrets}/*", "{a/b,secrets/c}", String.raw`\secrets/a`])(
  "a glob that may find a path that a rule denies is asked about: %s",
  (pattern) => {
    expect(evaluateRules(toOperations({ type: "glob", values: [pattern] }), secretFiles)).toBe("ask");
  },
);

test.each(["src/**", "README*", "docs/{a,b}/*"])(
  "a glob that cannot find a path that a rule denies is allowed: %s",
  (pattern) => {
    const shallow: PermissionRule[] = [
      { type: "glob", pattern: "**", action: "allow" },
      { type: "glob", pattern: "secrets/keys/**", action: "deny" },
    ];

    expect(evaluateRules(toOperations({ type: "glob", values: [pattern] }), shallow)).toBe("allow");
  },
);
