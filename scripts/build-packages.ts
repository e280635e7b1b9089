import { execFile, execFileSync } from "node:child_process";
import { cp, glob, mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ensurePage } from "./ensure-page.ts";
import { buildSpeech } from "./packages/build-speech.ts";
import { buildTools } from "./packages/build-tools.ts";
import { checkDependencies } from "./packages/check-dependencies.ts";
import { keepOwnLinks } from "./packages/keep-own-links.ts";
import { installerEnvironment, programEnvironment } from "../src/tool/program-environment.ts";

// npm run build:packages [-- <folder>]: builds all packages from src/, each into its own subfolder and as a tarball.
// The package.json and tsconfig.json of each package are in packages/. The folder must be inside the repository, so
// that the compiler finds the types of imported packages.

interface Build {
  /** The name of the package's folder, in packages/ and in the target. */
  readonly folder: string;
  /** Defaults to the package's own tsconfig.json. */
  readonly tsconfig?: string;
  /** Files other than TypeScript, and their paths in the package. */
  readonly files: Readonly<Record<string, string>>;
  /** Builds additional files into the folder. */
  readonly buildMore?: (folder: string) => Promise<void>;
}

const ROOT = join(import.meta.dirname, "..");
const run = promisify(execFile);
const target = resolve(process.argv[2] ?? join(ROOT, "dist"));
/**
 * The compiler settings for @parley/react. They are written below, because they refer to the built types of the client.
 */
const REACT_TSCONFIG = join(target, "tsconfig.react.json");
const pages = await Array.fromAsync(glob("docs/*.md", { cwd: ROOT }));
const BUILDS: readonly Build[] = [
  {
    folder: "parley",
    files: {
      "src/store/database/migrations": "dist/store/database/migrations",
      template: "template",
      "web/dist": "web/dist",
      "packages/parley/README.md": "README.md",
      ...Object.fromEntries(pages.map((page) => [page, page])),
    },
    buildMore: buildTools,
  },
  { folder: "client", files: { "docs/client.md": "README.md" } },
  { folder: "react", tsconfig: REACT_TSCONFIG, files: { "clients/react/README.md": "README.md" } },
  { folder: "conformance", files: { "docs/conformance.md": "README.md" } },
  { folder: "create-parley", files: { template: "template", "packages/create-parley/README.md": "README.md" } },
];

await ensurePage();
await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
const types = join(target, "client/dist/client");
const paths = { "@parley/client": [join(types, "index.d.ts")], "@parley/client/forms": [join(types, "forms.d.ts")] };
await writeFile(
  REACT_TSCONFIG,
  JSON.stringify({ extends: join(ROOT, "packages/react/tsconfig.json"), compilerOptions: { paths } }),
);
for (const { folder: name, tsconfig = `packages/${name}/tsconfig.json`, files, buildMore } of BUILDS) {
  const folder = join(target, name);
  const compile = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", tsconfig, "--outDir", join(folder, "dist")];
  // The compiler's errors go to stderr, because stdout is reserved for the tarballs.
  execFileSync(process.execPath, compile, { cwd: ROOT, stdio: ["ignore", 2, 2], env: programEnvironment() });
  const copied = { ...files, LICENSE: "LICENSE", [`packages/${name}/package.json`]: "package.json" };
  for (const [from, to] of Object.entries(copied)) await cp(join(ROOT, from), join(folder, to), { recursive: true });
  await keepOwnLinks(folder);
  await buildMore?.(folder);
}
await rm(REACT_TSCONFIG);
await checkDependencies(target);
const folders = BUILDS.map(({ folder }) => folder);
if (await addSpeech(join(target, "speech"))) folders.unshift("speech");
for (const folder of folders) {
  const { stdout } = await run("npm", ["pack", join(target, folder), "--json", "--pack-destination", target], {
    cwd: ROOT,
    env: installerEnvironment(),
  });
  const [packed] = JSON.parse(stdout) as readonly { filename: string; size: number; unpackedSize: number }[];
  process.stdout.write(`${packed?.filename}: ${packed?.size} bytes, unpacked ${packed?.unpackedSize}\n`);
}

/**
 * Builds `@parley/speech`, which has no code. Returns false if its models cannot be downloaded: the other packages are
 * built without it.
 */
async function addSpeech(folder: string): Promise<boolean> {
  try {
    await cp(join(ROOT, "packages/speech"), folder, { recursive: true });
    await buildSpeech(folder);
    return true;
  } catch (error) {
    process.stderr.write(`@parley/speech is not built. ${error instanceof Error ? error.message : String(error)}\n`);
    return false;
  }
}
