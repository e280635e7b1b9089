import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const pages = globSync("*.md", { cwd: "docs" }).filter((page) => page !== "README.md");
const rows = [...readFileSync("docs/README.md", "utf8").matchAll(/^\| \[[^\]]+\]\((\S+\.md)\) \|/gm)].map(
  ([, page = ""]) => page,
);

test("the list of pages has a row for each page", () => {
  expect(pages.filter((page) => !rows.includes(page))).toEqual([]);
});

test("the list of pages has no page twice", () => {
  expect(rows.filter((page, index) => rows.indexOf(page) !== index)).toEqual([]);
});

test("the README is at most 97 lines long", () => {
  expect(readFileSync("README.md", "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(97);
});

test("no version in the changelog has more than 120 lines", () => {
  const versions = readFileSync("CHANGELOG.md", "utf8").split(/^(?=## )/m);
  const long = versions.filter((version) => version.trimEnd().split("\n").length > 120);

  expect(long.map((version) => version.split("\n", 1)[0])).toEqual([]);
});

test("the changelog sorts changes as keepachangelog does", () => {
  const kinds = [...readFileSync("CHANGELOG.md", "utf8").matchAll(/^### (.+)$/gm)].map(([, kind]) => kind);
  const known = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

  expect(kinds.filter((kind) => !known.includes(kind ?? ""))).toEqual([]);
});
