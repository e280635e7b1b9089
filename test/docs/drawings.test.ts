import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FENCES } from "./fences.ts";

const drawings = FENCES.filter(({ language }) => language === "mermaid").map(({ page, text }, index) => {
  return { name: `drawing ${index + 1}, of ${page}`, text };
});
const sequences = drawings.filter(({ text }) => text.startsWith("sequenceDiagram"));
const [record] = drawings.filter(({ text }) => text.startsWith("erDiagram"));

test("README.md and how-it-works.md contain drawings", () => {
  expect(drawings.length).toBeGreaterThanOrEqual(7);
});

test.each(sequences)("each arrow of $name leads from one known participant to another", ({ text }) => {
  const known = [...text.matchAll(/^ *participant (\w+) as /gm)].map(([, name]) => name);
  const used = [...text.matchAll(/^ *(\w+)-?-[>x]>?(\w+): /gm)].flatMap(([, from, to]) => [from, to]);

  expect(used.length).toBeGreaterThan(4);
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
});

test.each(sequences)("each frame of $name is closed", ({ text }) => {
  const opened = text.match(/^ *(?:loop|alt|opt|par) /gm) ?? [];

  expect(text.match(/^ *end$/gm) ?? []).toHaveLength(opened.length);
});

test("the tables and columns in how-it-works.md's drawing are in the migrations", () => {
  const migrations = globSync("src/store/database/migrations/*.sql").map((file) => readFileSync(file, "utf8"));
  const { text } = record ?? { text: "" };
  const tables = [...text.matchAll(/^ {2}(\w+) \|\|--o\{ (\w+)/gm)].flatMap(([, one, many]) => [one, many]);
  const columns = [...text.matchAll(/^ {4}(\w+) (\w+)$/gm)].map(([, type, name]) => `${name} ${type}`);
  const isThere = (words: string) => migrations.some((sql) => sql.includes(words));

  expect(columns.length).toBeGreaterThan(8);
  expect(tables.filter((name) => !isThere(`create table ${name} (`))).toEqual([]);
  expect(columns.filter((column) => !isThere(column))).toEqual([]);
});
