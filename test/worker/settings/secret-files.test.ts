import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AppError } from "../../../src/errors/app-error.ts";
import { SECRET_NAMES } from "../../../src/worker/settings/environment.ts";
import { loadConfig } from "../../../src/worker/settings/load-config.ts";
import { readSecretFiles } from "../../../src/worker/settings/secret-files.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const folder = forEachTest(tempFolder);
const at = (name: string) => join(folder.path, name);

async function load(env: NodeJS.ProcessEnv, dotenv = "") {
  await writeFile(at("parley.config.ts"), `export default { instructions: "x" };`);
  await writeFile(at(".env"), dotenv);
  return loadConfig(env, folder.path);
}

test("every secret variable can come from a file, and no other variable can", async () => {
  const env: NodeJS.ProcessEnv = { HTTP_HOST_FILE: at("HTTP_HOST") };
  for (const name of SECRET_NAMES) {
    await writeFile(at(name), `content of ${name}\n`);
    env[`${name}_FILE`] = at(name);
  }

  await readSecretFiles(env, folder.path, SECRET_NAMES);

  for (const name of SECRET_NAMES) expect(env[name]).toBe(`content of ${name}`);
  expect(SECRET_NAMES).toEqual(
    expect.arrayContaining(["ANTHROPIC_API_KEY", "DATABASE_URL", "LIVEKIT_API_SECRET", "PGPASSWORD", "TOKEN_SECRET"]),
  );
  expect(env["HTTP_HOST"]).toBeUndefined();
});

test.each([
  ["a secret of mine", "a secret of mine"],
  ["a secret of mine\n", "a secret of mine"],
  ["a secret of mine\r\n\r\n", "a secret of mine"],
  [" a secret\nof mine ", " a secret\nof mine "],
])("only newlines at the end of a secret file are removed: %j", async (content, expected) => {
  await writeFile(at("token"), content);

  expect(await load({ TOKEN_SECRET_FILE: "token" })).toMatchObject({ tokenSecret: expected });
});

test("the database password can come from a separate file", async () => {
  await writeFile(at("password"), "a@b\n");
  const env = { DATABASE_URL: "postgres://parley@db/parley", PGPASSWORD_FILE: at("password") };

  expect(await load(env)).toMatchObject({ databaseUrl: "postgres://parley:a%40b@db/parley" });
});

test(".env can set a secret's file, and the environment overrides it with a value or another file", async () => {
  await writeFile(at("one"), "secret of .env's file");
  await writeFile(at("two"), "secret of another file");
  const dotenv = `TOKEN_SECRET_FILE=${at("one")}\nLIVEKIT_API_SECRET=secret of .env\n`;

  expect(await load({}, dotenv)).toMatchObject({ tokenSecret: "secret of .env's file" });
  expect(await load({ TOKEN_SECRET: "secret of the environment" }, dotenv)).toMatchObject({
    tokenSecret: "secret of the environment",
  });
  expect(await load({ LIVEKIT_API_SECRET_FILE: at("two") }, dotenv)).toMatchObject({
    livekitApiSecret: "secret of another file",
  });
});

test("a session host that inherits the environment gets the secrets, even after their files are gone", async () => {
  await writeFile(at("one"), "secret of a file");
  const dotenv = `TOKEN_SECRET_FILE=${at("one")}\n`;
  const env: NodeJS.ProcessEnv = {};
  const config = await load(env, dotenv);
  await writeFile(at("one"), "");

  expect(await load({ ...env }, dotenv)).toEqual(config);
});

test("an empty NAME_FILE counts as not set", async () => {
  expect(await load({ TOKEN_SECRET: "a secret of mine", TOKEN_SECRET_FILE: "" })).toMatchObject({
    tokenSecret: "a secret of mine",
  });
});

test("one error lists every unusable secret file, and shows no secret", async () => {
  await writeFile(at("empty"), "\n");
  await writeFile(at("short"), "hunter2");
  await mkdir(at("folder"));

  const both = { TOKEN_SECRET: "a secret of mine", TOKEN_SECRET_FILE: at("short") };
  const unusable = {
    PGPASSWORD_FILE: at("folder"),
    LIVEKIT_API_SECRET_FILE: at("missing"),
    WEBHOOK_SECRET_FILE: at("empty"),
  };

  await expect(load(both)).rejects.toThrow(
    new AppError("invalid_config", "TOKEN_SECRET and TOKEN_SECRET_FILE are both set. Set only one of them."),
  );
  await expect(load(unusable)).rejects.toThrow(
    new AppError(
      "invalid_config",
      [
        `LIVEKIT_API_SECRET_FILE: cannot read ${at("missing")} (ENOENT)`,
        `PGPASSWORD_FILE: cannot read ${at("folder")} (EISDIR)`,
        `WEBHOOK_SECRET_FILE: ${at("empty")} is empty`,
      ].join("\n"),
    ),
  );
  await expect(load({ TOKEN_SECRET_FILE: at("short") })).rejects.toThrow(
    "TOKEN_SECRET: expected 16 characters or more, got a string of 7 characters",
  );
});
