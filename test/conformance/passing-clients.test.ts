import { expect, test } from "vitest";
import { notPassed, runClient } from "./run-client.ts";

test("our SDK passes every check", { timeout: 60_000 }, async () => {
  const verdicts = await runClient("sdk-client.ts");

  expect(notPassed(verdicts)).toEqual([]);
});
