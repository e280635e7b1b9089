import { expect, test } from "vitest";
import { createRedact, normalize } from "../../src/scenario/redact.ts";
import { cpuMs } from "../support/cpu-ms.ts";

const TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLWFubg";
const redact = createRedact();

test.each([
  ["Write to ann+tea@mail.example.com, please", "Write to <email>, please"],
  [`Bearer ${TOKEN}`, "Bearer <secret>"],
  [`token=${TOKEN};`, "token=<secret>;"],
  ["sk-ant-0123456789abcdef is mine", "<secret> is mine"],
])("%s", (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

/**
 * The slowest input for a backtracking search: each of these, repeated, looks like the start of a secret at many
 * positions, but never completes a secret.
 */
test.each([["a"], ["a."], ["eyJ-"], ["-eyJ.a"], ["a@"], [" 00 1"], ["+1 "], ["1 "], ["DE12 "], ["sk-"]])(
  "a long text of %j is searched quickly",
  (piece) => {
    const text = piece.repeat(50_000 / piece.length);
    const startedAt = cpuMs();
    redact(text);
    expect(cpuMs() - startedAt).toBeLessThan(1_000);
  },
);

test("the text in a document is redacted, and ids issued by the API stay unchanged", () => {
  const source = { type: "text", media_type: "text/plain", data: "Write to ann@example.com" };
  const picture = { type: "base64", media_type: "image/png", data: "DE89370400440532013000" };
  const thought = { type: "redacted_thinking", data: "DE89370400440532013000" };

  expect(normalize([{ type: "document", source }, { type: "image", source: picture }, thought], redact)).toEqual([
    { type: "document", source: { ...source, data: "Write to <email>" } },
    { type: "image", source: picture },
    thought,
  ]);
});
