import { expect, test } from "vitest";
import { nodeClient, notPassed, runClient } from "./run-client.ts";

test("our SDK passes every check", { timeout: 60_000 }, async () => {
  const verdicts = await runClient(...nodeClient("sdk-client.ts"));

  expect(notPassed(verdicts)).toEqual([]);
});
