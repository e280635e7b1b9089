import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkEnvFile } from "../../../src/worker/settings/check-env-file.ts";
import { addEnvFile } from "../../../src/worker/settings/env-file.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const folder = forEachTest(tempFolder);

async function envFile(content: string): Promise<string> {
  const path = join(folder.path, ".env");
  await writeFile(path, content);
  return path;
}

test("names of .env that are nearly Parley's are told, and an author's own are not", async () => {
  const path = await envFile(
    "HTTP_PROT=1\nLIVEKIT_AGENT=x\nTOKEN_SECRET_FILE=a\n# a word\nBRAVE_API_KEY=k\nexport A=1\n",
  );

  expect(await checkEnvFile(path)).toEqual([
    `${path}: HTTP_PROT is not a variable of Parley. Did you mean "HTTP_PORT"?`,
    `${path}: LIVEKIT_AGENT is not a variable of Parley. Did you mean "LIVEKIT_AGENT_NAME"?`,
  ]);
});

test("a line of .env that sets nothing is told by its number, without its content", async () => {
  const path = await envFile("A=1\nsk-secret\n");

  expect(await checkEnvFile(path)).toEqual([`${path}: line 2 sets no variable`]);
});

test("a quote of .env that is never closed is refused; one that is closed lines later is not", async () => {
  const lines = 'export KEY="one\ntwo"\nQUOTED=\'"a"\'\n';
  const env: NodeJS.ProcessEnv = {};
  await addEnvFile(env, await envFile(lines));
  expect(env).toEqual({ KEY: "one\ntwo", QUOTED: '"a"' });

  const path = await envFile('A=1\nTOKEN_SECRET="never closed\n');
  await expect(addEnvFile({}, path)).rejects.toThrow(
    `${path}: TOKEN_SECRET: the value begins with ", which is never closed`,
  );
});

test("a folder without .env has nothing to tell", async () => {
  expect(await checkEnvFile(join(folder.path, ".env"))).toEqual([]);
});
