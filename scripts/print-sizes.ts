import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

// npm run sizes: what an installation for production takes, made from the packages as they would be published, and what
// the Dockerfile puts on top of its base image.

const ROOT = join(import.meta.dirname, "..");
const SHOWN = 12;
const run = promisify(execFile);
const packages = join(ROOT, ".cache", `packages-${process.pid}`);
const place = await mkdtemp(join(tmpdir(), "parley-sizes-"));
try {
  const app = join(place, "app");
  const { stdout } = await run(process.execPath, [join(ROOT, "scripts/build-packages.ts"), packages]);
  process.stdout.write(`Packages\n${stdout}\n`);
  await mkdir(app);
  const tarball = (await readdir(packages)).find((name) => /^parley-\d.*\.tgz$/.test(name)) ?? "";
  const manifest = { private: true, dependencies: { parley: `file:${join(packages, tarball)}` } };
  await writeFile(join(app, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: app });
  const sizes = await sizesOf(join(app, "node_modules"));
  process.stdout.write(
    `parley, installed with --omit=dev: ${inMb(sumOf(sizes))} in ${sizes.size} packages. The largest:\n`,
  );
  showLargest(sizes);
  const layers = await layersOf(join(place, "image"));
  process.stdout.write(`\nThe image, without node:24-slim, certificates and espeak-ng: ${inMb(sumOf(layers))}\n`);
  showLargest(layers);
} finally {
  await rm(place, { recursive: true });
  await rm(packages, { recursive: true, force: true });
}

/** Bytes of what the Dockerfile copies and installs, made by its own commands. */
async function layersOf(image: string): Promise<Map<string, number>> {
  await mkdir(image);
  for (const name of ["package.json", "package-lock.json"]) await cp(join(ROOT, name), join(image, name));
  const dockerfile = await readFile(join(ROOT, "Dockerfile"), "utf8");
  const [, commands = ""] = /RUN (npm ci --omit=dev[^]*?)\n\n/.exec(dockerfile) ?? [];
  await run("sh", ["-c", commands], { cwd: image, env: { ...process.env, npm_config_prefer_offline: "true" } });
  const copied = ["node_modules", "src", "tools", "web/dist"];
  const folders = await Promise.all(
    copied.map(async (name) => {
      const from = name === "node_modules" ? image : ROOT;
      return [`/app/${name}`, sumOf(await sizesOf(join(from, name)))] as const;
    }),
  );
  return new Map(folders);
}

function showLargest(sizes: ReadonlyMap<string, number>): void {
  const largest = [...sizes].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
  for (const [name, size] of largest) process.stdout.write(`${inMb(size).padStart(10)}  ${name}\n`);
}

function sumOf(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Bytes of each package's files, without those of the packages below it. */
async function sizesOf(modules: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const entries = await readdir(modules, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name).slice(modules.length + 1);
    const inner = path.split("node_modules/").at(-1) ?? path;
    const name = inner.split("/", inner.startsWith("@") ? 2 : 1).join("/");
    const { size } = await stat(join(modules, path));
    sizes.set(name, (sizes.get(name) ?? 0) + size);
  }
  return sizes;
}

function inMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
