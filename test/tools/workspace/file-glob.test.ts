import { expect, test } from "vitest";
import { matchesGlob } from "../../../src/lib/glob.ts";
import glob from "../../../tools/workspace/glob.ts";
import { compileFileGlob } from "../../../tools/workspace/_file-glob.ts";
import { cpuMs } from "../../support/cpu-ms.ts";
import { runTool } from "../run-tool.ts";
import { TempWorkspace } from "./temp-workspace.ts";

const matches = (pattern: string, path: string) => matchesGlob(compileFileGlob(pattern), path);

test.each([
  ["*.ts", "a.ts"],
  ["*.ts", ".env.ts"],
  ["**/*.ts", "a.ts"],
  ["**/*.ts", "src/deep/a.ts"],
  ["src/**", "src/deep/a.ts"],
  ["src/**/a.ts", "src/a.ts"],
  ["a**b", "axxb"],
  ["a?.md", "a1.md"],
  ["[a-c]x", "bx"],
  ["[!a-c]x", "dx"],
  ["[^a-c]x", "dx"],
  ["[]]x", "]x"],
  ["docs/*.{md,txt}", "docs/a.txt"],
  ["{src,{test,docs}/**}/a.md", "docs/deep/a.md"],
  ["{**/,}a", "x/y/a"],
  ["{a}", "{a}"],
  ["a[", "a["],
  ["a{b", "a{b"],
  ["app/\\[id\\]/*", "app/[id]/page.tsx"],
  ["+(a|b)", "+(a|b)"],
  ["!a", "!a"],
  ["*😀?", "a😀😀"],
])("%j matches %j", (pattern, path) => {
  expect(matches(pattern, path)).toBe(true);
});

test.each([
  ["*.ts", "src/a.ts"],
  ["src/*", "src/deep/a.ts"],
  ["a**b", "a/b"],
  ["a?b", "a/b"],
  ["a[^x]b", "a/b"],
  ["[a-c]x", "dx"],
  ["docs/*.{md,txt}", "docs/a.ts"],
  ["+(a|b)", "ab"],
  ["", "a"],
])("%j does not match %j", (pattern, path) => {
  expect(matches(pattern, path)).toBe(false);
});

/** Patterns for which a backtracking matcher takes minutes, and the longest patterns. */
const HOSTILE = [
  "**/+(*a|a*)x",
  "*a*a*a*a*a*a*a*a*x",
  `${"*a".repeat(249)}x`,
  `${"{*a,a*}".repeat(71)}x`,
  `${"{".repeat(249)}a${"}".repeat(249)}`,
  `${"**/".repeat(166)}x`,
];

async function longNames(): Promise<TempWorkspace> {
  const names = Array.from({ length: 100 }, (_, index) => [`${"a".repeat(200)}${index}`, ""]);
  return await TempWorkspace.create(Object.fromEntries(names));
}

test.each(HOSTILE)("while %j is searched for, other work gets its turn", async (pattern) => {
  await using workspace = await longNames();
  let longest = 0;
  let isOver = false;
  let before = cpuMs();
  const tick = () => {
    longest = Math.max(longest, cpuMs() - before);
    before = cpuMs();
    if (!isOver) setImmediate(tick);
  };
  tick();

  expect(await runTool(glob, { pattern }, workspace)).toEqual({ paths: [], truncated: false });

  isOver = true;
  tick();
  expect(longest).toBeLessThan(150);
});

test("a slow glob ends at its deadline", async () => {
  await using workspace = await longNames();
  const before = cpuMs();

  const { settings } = workspace;
  const signal = AbortSignal.timeout(20);

  await expect(runTool(glob, { pattern: `${"{*a,a*}".repeat(71)}x` }, { settings, signal })).rejects.toThrow("timeout");

  expect(cpuMs() - before).toBeLessThan(400);
});
