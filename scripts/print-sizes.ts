import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeSizes, type Sizes, sumOf, writeSizes } from "./sizes/write-sizes.ts";
import { installerEnvironment } from "../src/tool/program-environment.ts";

// npm run sizes: prints the size of a production install, made from the packages as they would be published, and what
// the Dockerfile adds to its base image. With --write, also writes the figures into the pages that contain them.

const ROOT = join(import.meta.dirname, "..");
const PAGES = ["docs/packages.md", "docs/operating.md"];
const run = promisify(execFile);
const packages = join(ROOT, ".cache", `packages-${process.pid}`);
const place = await mkdtemp(join(tmpdir(), "parley-sizes-"));
try {
  const { stdout } = await run(process.execPath, [join(ROOT, "scripts/build-packages.ts"), packages], {
    env: installerEnvironment(),
  });
  process.stdout.write(`Packages\n${stdout}\n`);
  const archives = {
    parley: await archiveOf(/^parley-\d.*\.tgz$/),
    client: await archiveOf(/^parley-client-.*\.tgz$/),
  };
  const [installed, client] = [await install("app", archives.parley), await install("client", archives.client)];
  const measured = {
    installed,
    image: await layersOf(join(place, "image")),
    client: client.get("@parley/client") ?? 0,
    packed: { parley: (await stat(archives.parley)).size, client: (await stat(archives.client)).size },
  };
  process.stdout.write(`${describeSizes(measured)}\n`);
  for (const page of process.argv.includes("--write") ? PAGES : []) {
    const path = join(ROOT, page);
    await writeFile(path, writeSizes(await readFile(path, "utf8"), measured));
    process.stdout.write(`Written into ${page}\n`);
  }
} finally {
  await rm(place, { recursive: true });
  await rm(packages, { recursive: true, force: true });
}

async function archiveOf(name: RegExp): Promise<string> {
  const file = (await readdir(packages)).find((each) => name.test(each));
  if (file === undefined) throw new Error(`There is no ${name.source} in ${packages}`);
  return join(packages, file);
}

/** Installs one archive for production in a new folder. Returns the sizes of the installed packages in bytes. */
async function install(folder: string, archive: string): Promise<Sizes> {
  const cwd = join(place, folder);
  await mkdir(cwd);
  await writeFile(join(cwd, "package.json"), JSON.stringify({ private: true }));
  await run("npm", ["install", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund", archive], {
    cwd,
    env: installerEnvironment(),
  });
  return sizesOf(join(cwd, "node_modules"));
}

/** Runs the Dockerfile's own commands. Returns the sizes of the files that it copies and installs, in bytes. */
async function layersOf(image: string): Promise<Sizes> {
  await mkdir(image);
  for (const name of ["package.json", "package-lock.json"]) await cp(join(ROOT, name), join(image, name));
  const dockerfile = await readFile(join(ROOT, "Dockerfile"), "utf8");
  const [, commands = ""] = /RUN (npm ci --omit=dev[^]*?)\n\n/.exec(dockerfile) ?? [];
  await run("sh", ["-c", commands], {
    cwd: image,
    env: { ...installerEnvironment(), npm_config_prefer_offline: "true" },
  });
  const copied = ["node_modules", "src", "tools", "web/dist", ".cache/speech"];
  const folders = await Promise.all(
    copied.map(async (name) => {
      const from = name === "node_modules" ? image : ROOT;
      return [`/app/${name}`, sumOf(await sizesOf(join(from, name)))] as const;
    }),
  );
  return new Map(folders);
}

/** Returns the size of each package's files in bytes, excluding packages nested inside it. */
async function sizesOf(modules: string): Promise<Sizes> {
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
