import { expect, test } from "vitest";
import { matchPattern } from "../../src/permission/match-pattern.ts";

test.each([
  ["git *", "git add src/a.ts"],
  ["git *", "git commit -m 'two\nlines'"],
  ["npm run *", "npm run build"],
  ["* --dry-run", "rm -r /a --dry-run"],
  ["{git *,npm run *}", "npm run a/b"],
  ["*", "/etc/passwd"],
  ["**", "any thing\nat/all"],
  ["src/*", "src/a.ts"],
  ["src/*", "src/.hidden"],
  ["src/**", "src/deep/er/a.ts"],
  ["**/*.md", "a.md"],
  ["notes/{a,b}.md", "notes/b.md"],
  ["my notes/*", "my notes/a.md"],
  ["https://example.com/**", "https://example.com/a/b?c=d"],
  ["!x", "!x"],
  ["a[", "a["],
  ["rm \\*", "rm *"],
])("%j says %j", (pattern, text) => {
  expect(matchPattern(pattern, text)).toBe(true);
});

test.each([
  ["git *", "git"],
  ["git *", "gitk a"],
  ["git *", "sudo git push"],
  ["src/*", "src/deep/a.ts"],
  ["my notes/*", "my notes/deep/a.md"],
  ["src/**", "src/../secret"],
  ["*.md", "notes/a.md"],
  ["!x", "y"],
  ["a[", "a"],
  ["", "a"],
  ["rm \\*", "rm -r a"],
])("%j does not say %j", (pattern, text) => {
  expect(matchPattern(pattern, text)).toBe(false);
});
