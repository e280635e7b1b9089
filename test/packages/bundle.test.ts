import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { build as viteBuild, type Rolldown } from "vite";
import { beforeAll, expect, test } from "vitest";
import { forFile } from "../support/lifetimes.ts";
import { tempFolder } from "../support/temp-folder.ts";

const ROOT = join(import.meta.dirname, "../..");
/** How much @parley/client may add to a page with livekit-client, in bytes, minified and gzipped. */
const LIMIT_BYTES = 27_500;
const PAGE = 'import { Room } from "livekit-client";\nconst room = new Room();\n';
const WITH_CLIENT = `${PAGE}import { connect } from "@parley/client";\nconsole.log(await connect(room));\n`;

// The folder is inside the repository, where the client's own dependencies are found.
const app = forFile(() => tempFolder(join(ROOT, ".cache")));

beforeAll(async () => {
  const client = join(app.path, "node_modules/@parley/client");
  await mkdir(client, { recursive: true });
  const compile = ["-p", "packages/client/tsconfig.json", "--outDir", join(client, "dist")];
  await promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), compile, { cwd: ROOT });
  const exports = { ".": "./dist/client/index.js" };
  await writeFile(join(client, "package.json"), JSON.stringify({ name: "@parley/client", type: "module", exports }));
}, 60_000);

async function byEsbuild(entry: string): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
  });
  return outputFiles.map(({ text }) => text).join("");
}

async function byVite(entry: string): Promise<string> {
  const built = await viteBuild({
    root: app.path,
    configFile: false,
    logLevel: "silent",
    build: { write: false, target: "es2022", rolldownOptions: { input: entry } },
  });
  const { output } = built as Rolldown.RolldownOutput;
  return output.map((file) => ("code" in file ? file.code : "")).join("");
}

async function sizeOf(source: string, bundle: (entry: string) => Promise<string>): Promise<number> {
  const entry = join(app.path, `page-${source.length}.js`);
  await writeFile(entry, source);
  return gzipSync(await bundle(entry)).length;
}

test.each([
  ["Vite", byVite],
  ["esbuild", byEsbuild],
])(
  "bundled by %s, the client adds at most 27.5 kB to a page with livekit-client",
  async (name, bundle) => {
    const addedBytes = (await sizeOf(WITH_CLIENT, bundle)) - (await sizeOf(PAGE, bundle));

    process.stdout.write(`@parley/client adds to a page with livekit-client, by ${name}: ${addedBytes} bytes\n`);
    expect(addedBytes).toBeLessThanOrEqual(LIMIT_BYTES);
    expect(addedBytes, "is it in the bundle at all?").toBeGreaterThan(LIMIT_BYTES / 2);
  },
  60_000,
);
