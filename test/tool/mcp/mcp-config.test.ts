import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/worker/settings/load-config.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const folder = forFile(tempFolder);
let count = 0;

async function load(mcpServers: string) {
  const name = `config-${count++}.ts`;
  await writeFile(join(folder.path, name), `export default { instructions: "x", mcpServers: ${mcpServers} };`);
  return (await loadConfig({ PARLEY_CONFIG: name }, folder.path)).mcpServers;
}

test("both kinds of servers get their defaults", async () => {
  expect(await load(`{ a: { command: "npx" }, "b-2": { url: "https://example.com/mcp", timeoutMs: 5 } }`)).toEqual({
    a: { command: "npx", args: [], env: {}, timeoutMs: 30_000, tools: ["*"] },
    "b-2": { url: "https://example.com/mcp", headers: {}, timeoutMs: 5, tools: ["*"] },
  });
});

test.each([
  `{ "a.b": { url: "http://x", headers: { Authorization: "Bearer sk-secret" } } }`,
  `{ a: { url: "http://u:sk-secret@h/mcp" } }`,
  `{ a: { command: "x", env: "sk-secret" } }`,
])("the error of %s shows no secret", async (source) => {
  const error: unknown = await load(source).catch((reason: unknown) => reason);

  expect(String(error)).toContain("mcpServers.a");
  expect(String(error)).not.toContain("secret");
});

test.each([
  [`{ "a b": { command: "x" } }`, /mcpServers\.a b: expected a name of 1 to 32/],
  [`{ a: 5 }`, /mcpServers\.a: expected an object with command or url, got 5/],
  [`{ a: {} }`, /mcpServers\.a: expected an object with command or url/],
  [`{ a: { comand: "x" } }`, /mcpServers\.a: expected an object with command or url \(Did you mean "command"\?\)/],
  [`{ a: { url: "http://x", header: {} } }`, /mcpServers\.a\.header: unknown field\. Did you mean "headers"\?/],
  [`{ a: { command: "" } }`, /mcpServers\.a\.command: /],
  [`{ a: { command: "x", args: ["y", 5] } }`, /mcpServers\.a\.args\.1: expected string, got 5/],
  [`{ a: { command: "x", env: { KEY: undefined } } }`, /mcpServers\.a\.env\.KEY: expected string, got nothing/],
  [`{ a: { command: "x", headers: {} } }`, /mcpServers\.a\.headers: unknown field/],
  [`{ a: { url: "http://x", command: "x" } }`, /mcpServers\.a\.command: unknown field/],
  [`{ a: { url: "ftp://x" } }`, /mcpServers\.a\.url: expected an http or https URL/],
  [`{ a: { url: "http://user:word@x" } }`, /mcpServers\.a\.url: expected a URL without a user name/],
  [
    `{ a: { url: "http://x", headers: { "no good": "x" } } }`,
    /mcpServers\.a\.headers: expected valid HTTP header names and values/,
  ],
  [
    `{ a: { url: "http://x", headers: Object.fromEntries(Array.from({ length: 101 }, (_, i) => ["x-" + i, ""])) } }`,
    /mcpServers\.a\.headers: expected at most 100 headers/,
  ],
  [`{ a: { url: "http://x", timeoutMs: 700_000 } }`, /mcpServers\.a\.timeoutMs: .*, got 700000/],
])("%s stops the start, and the error contains the field", async (source, expected) => {
  await expect(load(source)).rejects.toMatchObject({
    code: "invalid_config",
    message: expect.stringMatching(expected) as string,
  });
});
