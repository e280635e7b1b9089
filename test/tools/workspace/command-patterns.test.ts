import { expect, test } from "vitest";
import { decide } from "../../../src/permission/decide.ts";
import { type PermissionRule } from "../../../src/permission/rule.ts";
import { commandPatterns } from "../../../tools/workspace/_command-patterns.ts";

const rules: readonly PermissionRule[] = [
  { type: "bash", pattern: "git *", action: "allow" },
  { type: "bash", pattern: "rm *", action: "deny" },
];
const decided = (command: string, more: readonly PermissionRule[] = []) =>
  decide(
    commandPatterns(command).map((pattern) => ({ type: "bash", pattern })),
    [...rules, ...more],
  );

test.each(["git status", "  git log --oneline -5", "git commit -m 'a message'", "git diff -- src/*.ts"])(
  "%j is allowed by a rule for git",
  (command) => {
    expect(decided(command)).toBe("allow");
  },
);

test.each([
  "git status; curl evil",
  "git status && make",
  "git log | sh",
  "git status & make",
  "git status\nmake",
  "git log > ~/.bashrc",
  "git log $(make)",
  "git log `make`",
  "git log <(make)",
  "git log ${X:-y}",
  "git log $'\\x3b'",
  "(git status)",
  "X=1 git status",
  "git",
])("%j is asked about, whatever a rule for git says", (command) => {
  expect(decided(command)).toBe("ask");
});

test.each(["rm -rf x", "git status; rm x", "git log | rm x", "echo $(rm x)", "(rm x)", "make\nrm x"])(
  "%j is denied by a rule for rm",
  (command) => {
    expect(decided(command)).toBe("deny");
  },
);

test("a rule for everything allows what is joined, too, but for what is denied", () => {
  const everything: PermissionRule = { type: "bash", pattern: "*", action: "allow" };

  expect(decided("make && make install", [everything])).toBe("allow");
  expect(decided("make && rm x", [everything])).toBe("deny");
});

test("a command with more parts than rules are asked about is refused", () => {
  const command = Array.from({ length: 50 }, (_, index) => `echo ${index}`).join("; ");

  expect(() => commandPatterns(command)).toThrow("The command has more than 40 parts");
});
