import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readRecorded, toDocs } from "../../bench/report/record.ts";

test("the page of performance and its charts are what the recorded run says", async () => {
  const recorded = await readRecorded();
  if (!recorded) throw new Error("There is no recorded run");

  const docs = await toDocs(recorded);

  expect(Object.fromEntries([...docs.keys()].map((path) => [path, readFileSync(path, "utf8")]))).toEqual(
    Object.fromEntries(docs),
  );
});
