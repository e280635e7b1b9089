import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TestAgent } from "../support/agent.ts";

test("the worker supports the features that the protocol page lists", async () => {
  const doc = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");
  const [, listed = ""] = /^Features: ([^\n]*(?:\n[^\n]+)*)/m.exec(doc) ?? [];
  const described = [...listed.matchAll(/`(\w+)` \(|`(\w+)`:/g)].flatMap(
    ([, numbered, other]) => numbered ?? other ?? [],
  );
  await using agent = await TestAgent.start();
  const user = await agent.client("user");

  const { features } = await user.next("configuration");

  expect(new Set(features)).toEqual(new Set(described));
  expect(described).toHaveLength(features?.length ?? 0);
});
