import { glob, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const FOLDERS = ["parley", "client", "react", "conformance", "create-parley"];
const SECTIONS = ["dependencies", "optionalDependencies", "devDependencies"] as const;

type Versions = Readonly<Record<string, string>>;
type Manifest = Readonly<Record<"name" | "version" | "license", string>> &
  Readonly<Partial<Record<(typeof SECTIONS)[number] | "peerDependencies", Versions>>> & {
    readonly exports: Readonly<Record<string, unknown>>;
  };

const read = async (path: string) => JSON.parse(await readFile(join(ROOT, path), "utf8")) as Manifest;
const repository = await read("package.json");
const tested: Versions = Object.assign({}, ...SECTIONS.map((section) => repository[section] ?? {}));

test.each(FOLDERS)("the package in packages/%s has the repository's version and license", async (folder) => {
  const { version, license } = await read(`packages/${folder}/package.json`);

  expect({ version, license }).toEqual({ version: repository.version, license: repository.license });
});

test.each(FOLDERS)("packages/%s depends on other packages in the tested versions", async (folder) => {
  const {
    dependencies = {},
    devDependencies = {},
    peerDependencies = {},
  } = await read(`packages/${folder}/package.json`);
  const own = Object.entries({ ...dependencies, ...devDependencies });
  const wrong = own.filter(([name, version]) => version.replace("^", "") !== tested[name]);
  const peers = Object.entries(peerDependencies).filter(([name]) => name !== "@parley/client");
  // Only major versions are compared, because the range of a peer may start below the tested version.
  const far = peers.filter(([name, range]) => range.replace("^", "").split(".")[0] !== tested[name]?.split(".")[0]);

  expect({ wrong, far }).toEqual({ wrong: [], far: [] });
});

test("each dependency in the repository belongs to a package", async () => {
  const manifests = await Promise.all(FOLDERS.map((folder) => read(`packages/${folder}/package.json`)));
  const named = manifests.flatMap(({ dependencies, devDependencies, peerDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }),
  );

  expect(Object.keys(repository.dependencies ?? {}).filter((name) => !named.includes(name))).toEqual([]);
});

test("the package parley has all of the repository's entry points, and each tool", async () => {
  const { exports } = await read("packages/parley/package.json");
  const files = await Array.fromAsync(glob("tools/**/[!_]*.ts", { cwd: ROOT }));
  const tools = files.map((file) => `./tools/${basename(file, ".ts")}`);

  expect(tools.length).toBeGreaterThan(8);
  expect(Object.keys(exports).toSorted()).toEqual([...Object.keys(repository.exports), ...tools].toSorted());
});
