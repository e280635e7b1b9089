import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { IS_PUBLISHED } from "../../src/cli/published.ts";
import { registryCommandsIn } from "./registry-names.ts";

const ROOT = join(import.meta.dirname, "../..");
/**
 * Files that are not checked: nobody follows instructions in tests and fixtures, a lock file lists thousands of
 * packages, and published.ts contains the command to use once the packages are on a registry.
 */
const NOT_READ =
  /^(?:test\/(?!README\.md)|package-lock\.json|src\/cli\/published\.ts)|\.(?:png|wav|woff2?|ico|bin|jpg|pdf)$/;

/**
 * Pages, templates, and the sources with all help texts and errors. Includes only the unreleased part of the changelog,
 * because earlier notes were true at the time.
 */
async function writtenFiles(): Promise<{ readonly path: string; readonly text: string }[]> {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  const paths = listed
    .toString()
    .split("\n")
    .filter((path) => path !== "" && !NOT_READ.test(path));
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(ROOT, path), "utf8");
      return { path, text: path === "CHANGELOG.md" ? (text.split(/^## \d/m)[0] ?? "") : text };
    }),
  );
}

test.skipIf(IS_PUBLISHED)(
  "no page, template, help text or error requests an unpublished package from a registry",
  async () => {
    const files = await writtenFiles();
    const found = files.flatMap(({ path, text }) => registryCommandsIn(text).map((command) => `${path}: ${command}`));

    expect(files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["README.md", "docs/packages.md", "template/client.ts", "src/cli/commands.ts"]),
    );
    expect(found).toEqual([]);
  },
);

test.each([
  "npx parley talk",
  "npx -y -p parley parley talk",
  "`npm create parley my-agent`",
  'throw new Error("run npm init parley")',
  "npm install --save-dev @parley/client@0.1.0 # for the client",
  "npm i zod parley",
  "pnpm add @parley/react",
  "pnpm dlx create-parley my-agent",
  "npm exec --package=parley -- talk",
  "pip install parley-client",
  "uv add parley-client==0.1.0",
])("a line containing %s would be found", (line) => {
  expect(registryCommandsIn(`Then run:\n${line}\nand wait.`)).toHaveLength(1);
});

test.each([
  "npm run parley -- talk",
  "npm run create -- ../parley",
  "npm install file:packages/parley-0.1.0.tgz ./parley-client-0.1.0.tgz",
  "npm install && npm start # parley",
  "npx vitest run test/docs",
  "npx node hello.ts",
  "pip install ./clients/python",
  "git clone <address of this repository> parley && cd parley",
])("a line containing %s is allowed", (line) => {
  expect(registryCommandsIn(line)).toEqual([]);
});
