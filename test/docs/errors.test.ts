import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../src/errors/app-error.ts";

const doc = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");

test("the page and the table of codes say the same", () => {
  const rows = [...doc.matchAll(/^\| (\d+) \| `(\w+)` \| (\d) \| (yes|no) \| [^|]+ \| [^|]+ \|$/gm)].map(
    ([, wire, code, severity, recoverable]) => ({ code, wire, severity, recoverable }),
  );
  const codes = Object.entries(ERROR_CODES).map(([code, { wire, severity, recoverable }]) => ({
    code,
    wire: String(wire),
    severity: String(severity),
    recoverable: recoverable ? "yes" : "no",
  }));

  expect(rows).toEqual(codes.toSorted((a, b) => Number(a.wire) - Number(b.wire)));
});

test("no number stands for two codes", () => {
  const numbers = Object.values(ERROR_CODES).map(({ wire }) => wire);

  expect(new Set(numbers).size).toBe(numbers.length);
});

test("every error code that a tool result can get is on the page, and no other", () => {
  const section = doc.split(/^## /m).find((part) => part.startsWith("Error codes of a tool result")) ?? "";
  const described = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);

  expect(new Set(described)).toEqual(new Set([...unionOf("CallErrorCode"), ...literalCodes()]));
});

/** The named members of a union of texts, read from its source: types are gone at run time. */
function unionOf(name: string): string[] {
  const source = readFileSync(new URL("../../src/tool/outcome.ts", import.meta.url), "utf8");
  const [, body = ""] = new RegExp(`type ${name} =([^;]*);`).exec(source) ?? [];
  return [...body.matchAll(/"(\w+)"/g)].flatMap(([, code]) => code ?? []);
}

/** Codes that are written where a call is settled. */
function literalCodes(): string[] {
  const files = ["tool", "session"].flatMap((folder) => globSync(`src/${folder}/*.ts`));
  return files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:failure|refuse)\("(\w+)"/g)].flatMap(([, code]) => code ?? []),
  );
}
