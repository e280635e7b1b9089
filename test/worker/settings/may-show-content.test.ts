import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mayShowContent } from "../../../src/worker/settings/may-show-content.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const folder = forFile(() => tempFolder());

test.each([
  ["a worker under parley start may", { isWorkerOnly: false, nodeEnv: undefined, file: "" }, true],
  ["a worker alone may not", { isWorkerOnly: true, nodeEnv: undefined, file: "" }, false],
  ["NODE_ENV in the environment counts", { isWorkerOnly: false, nodeEnv: "production", file: "" }, false],
  ["NODE_ENV in .env counts", { isWorkerOnly: false, nodeEnv: undefined, file: "NODE_ENV=production" }, false],
  ["the environment overrides .env", { isWorkerOnly: false, nodeEnv: "test", file: "NODE_ENV=production" }, true],
])("content may be shown on the author's own machine only: %s", async (_, { file, ...worker }, may) => {
  const envFile = join(folder.path, ".env");
  await writeFile(envFile, file);

  expect(await mayShowContent({ ...worker, envFile })).toBe(may);
});
