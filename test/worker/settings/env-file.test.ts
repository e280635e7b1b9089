import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkEnvFile, checkEnvironment, checkVariables } from "../../../src/worker/settings/check-env-file.ts";
import { addEnvFile } from "../../../src/worker/settings/env-file.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const folder = forEachTest(tempFolder);

async function envFile(content: string): Promise<string> {
  const path = join(folder.path, ".env");
  await writeFile(path, content);
  return path;
}

test("variables in .env with nearly the same name as Parley's are reported, and an author's own are not", async () => {
  const path = await envFile(
    "HTTP_PROT=1\nLIVEKIT_AGENT=x\nTOKEN_SECRET_FILE=a\n# a word\nBRAVE_API_KEY=k\nexport A=1\n",
  );

  expect(await checkEnvFile(path)).toEqual([
    `${path}: HTTP_PROT is not a Parley variable. Did you mean "HTTP_PORT"?`,
    `${path}: LIVEKIT_AGENT is not a Parley variable. Did you mean "LIVEKIT_AGENT_NAME"?`,
  ]);
});

test("a line in .env that sets nothing is reported by its number, without its content", async () => {
  const path = await envFile("A=1\nsk-secret\n");

  expect(await checkEnvFile(path)).toEqual([`${path}: line 2 sets no variable`]);
});

test("an unclosed quote in .env is refused; one that is closed lines later is not", async () => {
  const lines = 'export KEY="one\ntwo"\nQUOTED=\'"a"\'\n';
  const env: NodeJS.ProcessEnv = {};
  await addEnvFile(env, await envFile(lines));
  expect(env).toEqual({ KEY: "one\ntwo", QUOTED: '"a"' });

  const path = await envFile('A=1\nTOKEN_SECRET="never closed\n');
  await expect(addEnvFile({}, path)).rejects.toThrow(
    `${path}: TOKEN_SECRET: the value begins with ", which is never closed`,
  );
});

test("a folder without .env has nothing to report", async () => {
  expect(await checkEnvFile(join(folder.path, ".env"))).toEqual([]);
});

test("misspelt environment variables are reported; those of other programs, and of Kubernetes' services, are not", () => {
  const known = ["PARLEY_CONFIG", "TOKEN_SECRET_FILE", "RUST_LOG", "PARLEY_JUDGE_MODEL", "HTTP_PROXY"];
  const others = ["POSTGRES_HOST", "PATH", "TERM", "PARLEY_SERVICE_HOST", "PARLEY_PORT_8080_TCP_ADDR", "LIVEKIT_PORT"];
  const misspelt = ["PARLEY_CONFG", "PARLEY_X", "TOKEN_SECRTE", "LIVEKIT_ULR"];
  const env = Object.fromEntries([...known, ...others, ...misspelt].map((name) => [name, "sk-secret"]));

  expect(checkEnvironment(env)).toEqual([
    'environment: PARLEY_CONFG is not a Parley variable. Did you mean "PARLEY_CONFIG"?',
    "environment: PARLEY_X is not a Parley variable.",
    'environment: TOKEN_SECRTE is not a Parley variable. Did you mean "TOKEN_SECRET"?',
    'environment: LIVEKIT_ULR is not a Parley variable. Did you mean "LIVEKIT_URL"?',
  ]);
});

test("a variable in .env that is also in the environment is reported once", async () => {
  const path = await envFile("HTTP_PROT=1\n");

  expect(await checkVariables(path, { HTTP_PROT: "1" })).toEqual([
    `${path}: HTTP_PROT is not a Parley variable. Did you mean "HTTP_PORT"?`,
  ]);
});
