import { expect, test } from "vitest";
import { FLAWS } from "./clients/flaws.ts";
import { failures, nodeClient, runClient } from "./run-client.ts";

test.each(Object.entries(FLAWS))(
  "a client that %s fails only the check for that flaw",
  { timeout: 60_000 },
  async (name, { found }) => {
    const verdicts = await runClient(...nodeClient("broken-client.ts", name));

    expect(failures(verdicts)).toEqual([expect.stringMatching(`^${found} failed`)]);
  },
);
