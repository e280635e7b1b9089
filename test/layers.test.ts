import { glob, readFile } from "node:fs/promises";
import { basename, dirname, join, normalize } from "node:path/posix";
import { expect, test } from "vitest";

const SHARED = ["lib", "errors", "conversation", "protocol"];
/** Folders on the same level, which do not import each other. */
const SIBLINGS = [
  ["agent", "livekit", "tool", "permission", "store", "llm", "telemetry"],
  ["http", "voice"],
];
/** Each folder may import the folders before it in its chain, except for its siblings. */
const CHAINS = [
  [
    ...SHARED,
    "agent",
    "livekit",
    "tool",
    "permission",
    "store",
    "llm",
    "telemetry",
    "turn",
    "session",
    "scenario",
    "http",
    "voice",
    "worker",
  ],
  // `speech` contains the speech recognizer and the voice that Parley includes.
  [...SHARED, "tool", "speech", "voice", "worker"],
  [...SHARED, "client"],
  [...SHARED, "livekit", "client", "cli"],
  // In `npm run load`, the participants speak with espeak-ng.
  ["voice", "cli"],
  [...SHARED, "livekit", "conformance", "cli"],
  // Commands start the same services as `npm start`.
  ["worker", "cli"],
  // The test kit for agents plays both sides: a session, and the client that talks to it.
  [...SHARED, "agent", "tool", "store", "llm", "turn", "session", "scenario", "worker", "testing"],
  ["client", "testing"],
  // In a spoken test session, espeak-ng speaks the text.
  ["voice", "testing"],
  // In a room, the test kit needs LiveKit's native library, and keeps that library's log out of the test output.
  ["livekit", "testing"],
  ["testing", "cli"],
  // `speech` imports neither LiveKit nor sessions. The voice layer uses it to speak.
  ["lib", "speech", "voice"],
  // `model-server` replaces Anthropic's API: in tests, and as the scripted model.
  ["lib", "model-server", "worker", "testing"],
  // The doctor loads the tools and the agents.
  ["tool", "cli"],
  // The doctor calls the model's API with the same client as turns do.
  ["llm", "cli"],
  ["agent", "cli"],
  // Some of the operators' commands change what is stored.
  ["store", "cli"],
  // `index.ts` is the package's entry.
  [...SHARED, "agent", "tool", "worker", "index.ts"],
];
/** The only folders that may import a package. A listed folder includes all files below it. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  "@msgpack/msgpack": ["src/protocol/codec", "src/conformance/wire"],
  valibot: ["src/protocol"],
  postgres: ["src/store", "tools/data"],
  unbash: ["src/permission/shell"],
  "@anthropic-ai/sdk": ["src/llm"],
  "@modelcontextprotocol/sdk": ["src/tool/mcp"],
  "@opentelemetry/api": ["src/telemetry", "src/session/telemetry", "src/worker/telemetry"],
  "@opentelemetry/api-logs": ["src/telemetry", "src/session/telemetry", "src/worker/telemetry"],
  ...Object.fromEntries(
    ["sdk-metrics", "sdk-logs", "sdk-trace-node", "exporter-trace-otlp-proto", "exporter-prometheus"].map((name) => [
      `@opentelemetry/${name}`,
      ["src/worker/telemetry"],
    ]),
  ),
  // In `agent`, only the types of plugins. In `speech`, only the model, which has a package of its own.
  "@livekit/*": [
    "agent/plugins",
    "livekit",
    "session",
    "voice",
    "worker",
    "client",
    "conformance",
    "testing/stage",
    "cli",
    "speech/turn-end",
  ].map((folder) => `src/${folder}`),
};

interface Import {
  readonly file: string;
  readonly from: string;
}

/**
 * `import … from`, `export … from`, `import "x"` and `import("x")`, including types: a type is a dependency as well.
 */
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\n]+)["']/g;

async function importsOf(pattern: string): Promise<Import[]> {
  const files = (await Array.fromAsync(glob(pattern))).toSorted();
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, "utf8") })));
  return texts.flatMap(({ file, text }) => [...text.matchAll(IMPORT)].map(([, from = ""]) => ({ file, from })));
}

const isRelative = ({ from }: Import) => from.startsWith(".");
const target = ({ file, from }: Import) => normalize(join(dirname(file), from));
const layerOf = (path: string) => path.split("/")[1] ?? "";
const show = (each: Import) => `${each.file} -> ${each.from}`;

function isAllowed(from: string, to: string): boolean {
  if (from === to) return true;
  if (SIBLINGS.some((group) => group.includes(from) && group.includes(to))) return false;
  return CHAINS.some((chain) => chain.includes(to) && chain.indexOf(to) < chain.indexOf(from));
}

test("imports in src only point down the layers", async () => {
  const imports = (await importsOf("src/**/*.ts")).filter(isRelative);
  const wrong = imports.filter(
    (each) => !target(each).startsWith("src/") || !isAllowed(layerOf(each.file), layerOf(target(each))),
  );

  expect(imports.length).toBeGreaterThan(200);
  expect(wrong.map(show)).toEqual([]);
});

/** The packages and pages outside `src`, with what they may import besides files in their own folder. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  "clients/react": ["react", "@parley/client", "@parley/client/forms"],
  web: "react react-dom/client livekit-client @parley/react marked node:path vite @fontsource-variable/figtree/wght.css".split(
    " ",
  ),
  "examples/react-minimal": ["react", "react-dom/client", "livekit-client", "@parley/react", "zod"],
  "examples/vanilla": ["livekit-client", "@parley/client"],
};

test.each(Object.entries(OUTSIDE))("%s imports the SDK only by its package's name", async (folder, packages) => {
  const imports = await importsOf(`${folder}/**/*.{ts,tsx}`);
  const wrong = imports.filter((each) =>
    isRelative(each) ? !target(each).startsWith(`${folder}/`) : !packages.includes(each.from),
  );

  expect(imports.length).toBeGreaterThan(1);
  expect(wrong.map(show)).toEqual([]);
});

test("every folder of src has a place in the layers", async () => {
  const folders = (await Array.fromAsync(glob("src/*"))).map(layerOf);

  expect(folders.filter((folder) => !CHAINS.flat().includes(folder))).toEqual([]);
});

/**
 * Finds the deepest folder that contains both files of an import. Returns that folder, and the entry (a file or folder)
 * of it that each of the two belongs to.
 */
function entriesOf(each: Import): { readonly folder: string; readonly from: string; readonly to: string } {
  const [from, to] = [each.file.split("/"), target(each).split("/")];
  const depth = from.findIndex((name, index) => name !== to[index]);
  return { folder: from.slice(0, depth).join("/"), from: from[depth] ?? "", to: to[depth] ?? "" };
}

/**
 * Repeatedly removes entries that import none of the remaining ones. Returns those left over, which are in a cycle or
 * lead to one.
 */
function importCycles(edges: readonly { readonly from: string; readonly to: string }[]): string[] {
  const upper = new Set(edges.map(({ from }) => from));
  const left = edges.filter(({ to }) => upper.has(to));
  return left.length === edges.length ? [...upper].toSorted() : importCycles(left);
}

test("in every folder of src, the page and the hooks, imports between files and folders have one direction", async () => {
  const all = await Promise.all(["src/**/*.ts", "{web,clients/react}/src/**/*.{ts,tsx}"].map(importsOf));
  const imports = all.flat().filter((each) => isRelative(each) && target(each) !== each.file);
  const importsByFolder = Object.groupBy(imports.map(entriesOf), ({ folder }) => folder);
  const cycles = Object.entries(importsByFolder).map(([folder, edges = []]) => [folder, importCycles(edges)] as const);

  expect(cycles.length).toBeGreaterThan(20);
  expect(cycles.filter(([, names]) => names.length > 0)).toEqual([]);
});

test("no folder in src contains more files than a reader can take in at once", async () => {
  const files = await Array.fromAsync(glob("{src,web/src,clients/react/src}/**/*.{ts,tsx}"));
  const folders = Object.entries(Object.groupBy(files, dirname)).map(([folder, held = []]) => [folder, held.length]);

  expect(folders.filter(([, count]) => Number(count) > 16)).toEqual([]);
});

const FOR_TOOLS = [
  "src/tool/define-tool.ts",
  "src/tool/permission-denied.ts",
  "src/tool/process-group-reaper.ts",
  "src/permission/shell/command-operations.ts",
];

test("a tool only imports packages, what is for tools, src/lib and the helpers in its own group", async () => {
  const imports = (await importsOf("tools/**/*.ts")).filter(isRelative);
  const wrong = imports.filter((each) => {
    const path = target(each);
    const isHelper = dirname(path) === dirname(each.file) && basename(path).startsWith("_");
    return !FOR_TOOLS.includes(path) && !path.startsWith("src/lib/") && !isHelper;
  });

  expect(imports.length).toBeGreaterThan(5);
  expect(wrong.map(show)).toEqual([]);
});

test.each(Object.entries(OWNERS))("%s is imported in its own folders only", async (name, owners) => {
  const isIt = ({ from }: Import) =>
    name.endsWith("*") ? from.startsWith(name.slice(0, -1)) : from === name || from.startsWith(`${name}/`);
  const imports = (await importsOf("{src,tools}/**/*.ts")).filter(isIt);

  expect(imports.length).toBeGreaterThan(0);
  expect(imports.filter(({ file }) => !owners.some((owner) => file.startsWith(`${owner}/`))).map(show)).toEqual([]);
});
