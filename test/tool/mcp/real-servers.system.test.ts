import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { chromiumPath } from "../../support/servers/chromium.ts";
import { NO_PYTHON, preparePython } from "../../support/python.ts";
import { runCommand } from "../../support/processes/run-in-our-environment.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { McpBench } from "./mcp-bench.ts";

// Third-party servers, unmodified and installed as people install them.

const NPM = {
  "@modelcontextprotocol/server-everything": "2026.8.31",
  "@modelcontextprotocol/server-filesystem": "2026.8.31",
  "@modelcontextprotocol/server-memory": "2026.8.31",
  "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
  "@playwright/mcp": "0.0.83",
  "chrome-devtools-mcp": "1.11.0",
};
const PYPI = ["mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19", "mcp-server-fetch==2026.10.24"];
const CACHE = join(import.meta.dirname, "../../../.cache/mcp-servers");
/** A picture of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PAGE = "data:text/html,<title>A page</title><h1>Hello</h1>";

const folder = forFile(tempFolder);
let programs = "";
let browser = "";
let python: string | undefined;

beforeAll(async () => {
  [programs, browser, python] = await Promise.all([installFromNpm(), chromiumPath(), installFromPypi()]);
}, 300_000);

/** Installs into a folder of the cache, once for each set of versions. */
async function installed(what: unknown, install: (path: string) => Promise<void>): Promise<string> {
  const path = join(CACHE, createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 16));
  if (existsSync(path)) return path;
  const unfinished = `${path}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await install(unfinished);
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return path;
}

async function installFromNpm(): Promise<string> {
  const path = await installed(NPM, async (cwd) => {
    await writeFile(join(cwd, "package.json"), JSON.stringify({ private: true, dependencies: NPM }));
    await runCommand("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd });
  });
  return join(path, "node_modules/.bin");
}

/** Returns a folder with the installed packages, or `undefined` if there is no Python that can run them. */
async function installFromPypi(): Promise<string | undefined> {
  const found = await preparePython();
  if (!found) return undefined;
  return installed([PYPI, found.command], async (target) => {
    await runCommand(found.command, ["-m", "pip", "install", "--quiet", "--target", target, ...PYPI]);
  });
}

const npm = (program: string, ...args: readonly string[]) => ({
  command: process.execPath,
  args: [join(programs, program), ...args],
  cwd: folder.path,
});

/** Returns the connected servers, and a function that calls a tool as the model does. */
async function connect(servers: ConstructorParameters<typeof McpBench>[0]) {
  const bench = new McpBench(servers);
  const prefixes = Object.keys(servers as object).map((name) => `${name}_`);
  const isThere = (prefix: string) => bench.names.some((name) => name.startsWith(prefix));
  await vi.waitUntil(() => prefixes.every(isThere), { timeout: 40_000 });
  return { bench, call: (name: string, input = {}) => bench.ports.run(name, input) };
}

test("everything: texts, pictures, resources, links, structured content, progress and a form arrive", async () => {
  const { bench, call } = await connect({ every: npm("mcp-server-everything") });
  await using _bench = bench;

  expect(await call("every_echo", { message: "hi" })).toEqual({ content: "Echo: hi", isError: false });
  expect(await call("every_get-tiny-image")).toMatchObject({
    content: expect.arrayContaining([expect.objectContaining({ type: "image" })]),
  });
  expect((await call("every_get-resource-reference", { resourceType: "Text", resourceId: 1 })).content).toContain(
    "Resource 1: This is a plaintext resource",
  );
  expect((await call("every_get-resource-links", { count: 1 })).content).toContain("Resource 1: plaintext resource");
  expect((await call("every_get-structured-content", { location: "Chicago" })).content).toContain('"temperature"');
  expect((await call("every_trigger-long-running-operation", { duration: 1, steps: 2 })).isError).toBe(false);
  expect((await call("every_trigger-elicitation-request")).content).toContain("cancel");
});

test("filesystem, memory and sequential-thinking: files, pictures, refusals and notes arrive", async () => {
  await writeFile(join(folder.path, "a.png"), Buffer.from(PNG, "base64"));
  const { bench, call } = await connect({
    files: npm("mcp-server-filesystem", folder.path),
    memory: { ...npm("mcp-server-memory"), env: { MEMORY_FILE_PATH: join(folder.path, "memory.json") } },
    think: npm("mcp-server-sequential-thinking"),
  });
  await using _bench = bench;
  const ann = { name: "Ann", entityType: "person", observations: ["likes tea"] };

  expect(await call("files_write_file", { path: join(folder.path, "a.txt"), content: "Hello" })).toMatchObject({
    isError: false,
  });
  expect((await call("files_read_text_file", { path: join(folder.path, "a.txt") })).content).toContain("Hello");
  const picture = await call("files_read_media_file", { path: join(folder.path, "a.png") });
  expect(picture.content).toMatchObject([{ type: "image" }]);
  expect(await call("files_list_directory", { path: "/etc" })).toMatchObject({ isError: true });
  await call("memory_create_entities", { entities: [ann] });
  expect((await call("memory_search_nodes", { query: "tea" })).content).toContain("Ann");
  const thought = { thought: "x", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  expect((await call("think_sequentialthinking", thought)).isError).toBe(false);
});

test(
  "playwright-mcp and chrome-devtools-mcp: a page is opened, read and shown as a picture",
  { timeout: 90_000 },
  async () => {
    const headless = ["--headless", "--isolated"];
    const { bench, call } = await connect({
      web: npm("playwright-mcp", ...headless, "--no-sandbox", "--executable-path", browser),
      dev: npm("chrome-devtools-mcp", ...headless, "--executablePath", browser, "--chromeArg=--no-sandbox"),
    });
    await using _bench = bench;

    expect((await call("web_browser_navigate", { url: PAGE })).content).toContain("Page Title: A page");
    expect((await call("web_browser_snapshot")).content).toContain('heading "Hello"');
    const picture = await call("web_browser_take_screenshot");
    expect(picture).toMatchObject({ isError: false, content: [{ type: "text" }, { type: "image" }] });
    expect((await call("dev_list_pages")).content).toContain("about:blank");
  },
);

test("time, git and fetch from PyPI: their schemas and answers are read", { timeout: 90_000 }, async ({ skip }) => {
  if (python === undefined) return skip(NO_PYTHON);
  const page = createServer((_request, response) => {
    response.setHeader("content-type", "text/plain").end("Hello from the page");
  });
  page.listen(0, "127.0.0.1");
  await vi.waitUntil(() => page.listening);
  const { port } = page.address() as AddressInfo;
  const pypi = (module: string, ...args: readonly string[]) => ({
    command: "python3",
    args: ["-m", module, ...args],
    cwd: folder.path,
    env: { PYTHONPATH: python ?? "" },
  });
  await runCommand("git", ["init", "--quiet", folder.path]);
  const { bench, call } = await connect({
    time: pypi("mcp_server_time"),
    git: pypi("mcp_server_git", "--repository", folder.path),
    fetch: pypi("mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips"),
  });
  try {
    expect((await call("time_get_current_time", { timezone: "Asia/Tokyo" })).content).toContain("Asia/Tokyo");
    expect((await call("git_git_status", { repo_path: folder.path })).content).toContain("Repository status");
    const fetched = await call("fetch_fetch", { url: `http://127.0.0.1:${port}/` });
    expect(fetched.content).toContain("Hello from the page");
  } finally {
    await bench.servers.close();
    page.close();
  }
});
