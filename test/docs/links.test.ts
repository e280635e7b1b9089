import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { expect, test } from "vitest";
import { SECRET_NAMES } from "../../src/worker/settings/environment.ts";

const others = [
  "test/README.md",
  "clients/python/README.md",
  "clients/react/README.md",
  ...globSync("examples/{,*/}README.md"),
];
const pages = [...globSync("*.md"), ...others, ...globSync("docs/**/*.md")].toSorted();
const textOf = (page: string) => readFileSync(page, "utf8");
const proseOf = (page: string) => textOf(page).replaceAll(/^```[^]*?^```/gm, "");

test.each(pages)("the links in %s lead somewhere", (page) => {
  const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => link ?? []);
  const broken = links.filter((link) => !/^https?:/.test(link) && !leadsSomewhere(page, link));

  expect(broken).toEqual([]);
});

test.each(pages)("the files that %s mentions exist", (page) => {
  const named = [...proseOf(page).matchAll(/`((?:src|test|tools|docs|bench|examples|web|clients)\/[\w./*-]*)`/g)];
  const missing = named.flatMap(([, path = ""]) => (globSync(path.replace(/\/$/, "")).length > 0 ? [] : [path]));

  expect(missing).toEqual([]);
});

test.each(pages)("the environment variables that %s mentions are in .env.example", (page) => {
  const known = new Set([...textOf(".env.example").matchAll(/^#? ?([A-Z][A-Z\d_]+)=/gm)].map(([, name]) => name));
  const named = [...textOf(page).matchAll(/\b(?:PARLEY|ANTHROPIC|LIVEKIT|POSTGRES|HTTP|WORKER|LOG)_[A-Z][A-Z_]*\b/g)];
  const set = [...textOf(page).matchAll(/(?<![\w$])([A-Z][A-Z\d_]{3,})=/g)].flatMap(([, name]) => name ?? []);
  // Variables that the worker's code does not read: those of Node, the shell and the tests, and those that the
  // conformance kit sets for clients.
  const foreign = [
    "NODE_ENV",
    "NODE_USE_ENV_PROXY",
    "HTTP_PROXY",
    "SHELL",
    "PROPERTY_RUNS",
    "PROPERTY_SEED",
    "PARLEY_RECORD",
    "PARLEY_JUDGE_MODEL",
    "LIVEKIT_TOKEN",
    // The example of a key whose name an author chooses.
    "GATEWAY_KEY",
    "PICTURES",
    "TURNS",
    "PAUSE_MS",
    "RECORD",
  ];
  // Each secret can also be read from a file, whose path is in the variable with the suffix _FILE.
  const files = SECRET_NAMES.map((name) => `${name}_FILE`);
  const all = new Set([...known, ...foreign, ...files]);
  const unknown = [...named.map(([name]) => name), ...set].filter((name) => !all.has(name));

  expect(unknown).toEqual([]);
});

test("the list of decisions has a row for each decision", () => {
  const list = textOf("docs/decisions/README.md");
  const missing = globSync("*.md", { cwd: "docs/decisions" }).filter((page) => !list.includes(`](${page})`));

  expect(missing).toEqual(["README.md"]);
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : normalize(join(dirname(page), path));
  if (!existsSync(target)) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

/** Anchors as GitHub makes them from headings. */
function anchorsOf(page: string): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].flatMap(([, heading]) => heading ?? []);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
