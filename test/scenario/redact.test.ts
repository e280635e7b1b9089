import { expect, test } from "vitest";
import { createRedact } from "../../src/scenario/redact.ts";

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

/** Repeated, each of these looks at every place like the beginning of a secret, and never becomes one. */
test.each([["a"], ["a."], ["eyJ-"], ["-eyJ.a"], ["a@"], [" 00 1"], ["+1 "], ["1 "], ["DE12 "], ["sk-"]])(
  "a long text of %j is looked through at once",
  (piece) => {
    const text = piece.repeat(50_000 / piece.length);
    const startedAt = performance.now();
    redact(text);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  },
);
