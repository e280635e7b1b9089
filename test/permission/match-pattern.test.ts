import { expect, test } from "vitest";
import { matchPattern } from "../../src/permission/match-pattern.ts";

test.each([
  ["git *", "git add src/a.ts"],
  ["git *", "git commit -m 'two\nlines'"],
  ["npm run *", "npm run build"],
  ["* --dry-run", "rm -r /a --dry-run"],
  ["git *", "git"],
  ["git push *", "git push"],
  ["*", "/etc/passwd"],
  ["**", "any thing\nat/all"],
  ["src/*", "src/a.ts"],
  ["src/*", "src/.hidden"],
  ["src/**", "src/deep/er/a.ts"],
  ["**/*.md", "a.md"],
  ["src/**", "src"],
  ["src/**/a.ts", "src/a.ts"],
  ["src/**/**/a.ts", "src/x/a.ts"],
  ["a/**/**", "a/b"],
  ["app/[id]/**", "app/[id]/page.tsx"],
  ["app/\\[id\\]/**", "app/[id]/page.tsx"],
  ["packages/@acme/**", "packages/@acme/a/b.ts"],
  ["npm publish @acme/*", "npm publish @acme/a"],
  ["a+(b)|{c,d}!e/*", "a+(b)|{c,d}!e/f"],
  ["a?c", "abc"],
  ["\\*\\?\\\\", "*?\\"],
  ["a\\", "a\\"],
  ["my notes/*", "my notes/a.md"],
  ["https://example.com/**", "https://example.com/a/b?c=d"],
  ["!x", "!x"],
  ["a[", "a["],
  ["rm \\*", "rm *"],
])("%j matches %j", (pattern, text) => {
  expect(matchPattern(pattern, text)).toBe(true);
});

test.each([
  ["git *", "gitk"],
  ["git *", "gitk a"],
  ["* a", "a"],
  ["src/*", "src"],
  ["src/**", "srcs"],
  ["a?c", "a/c"],
  ["app/[id]/**", "app/i/page.tsx"],
  ["notes/{a,b}.md", "notes/b.md"],
  ["a\\*", "a\\*"],
  ["git *", "sudo git push"],
  ["src/*", "src/deep/a.ts"],
  ["my notes/*", "my notes/deep/a.md"],
  ["*.md", "notes/a.md"],
  ["!x", "y"],
  ["a[", "a"],
  ["", "a"],
  ["rm \\*", "rm -r a"],
])("%j does not match %j", (pattern, text) => {
  expect(matchPattern(pattern, text)).toBe(false);
});
