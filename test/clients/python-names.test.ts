import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { workerFeatures } from "../../src/protocol/messages/messages.ts";

test("the Python client knows all features of the protocol", async () => {
  const file = join(import.meta.dirname, "../../clients/python/src/parley_client/known_names.py");
  const [, list = ""] = /WORKER_FEATURES = \(([^)]*)\)/u.exec(await readFile(file, "utf8")) ?? [];

  expect(list.match(/\w+/gu)?.toSorted()).toEqual(workerFeatures().toSorted());
});
