import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";

type Versions = Readonly<Record<string, string>>;
export interface RepositoryManifest {
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Versions;
  readonly optionalDependencies: Versions;
  readonly devDependencies: Versions;
}

export interface Package {
  readonly name: string;
  readonly description: string;
  /** The entry points: paths below `src/`, by export path. */
  readonly exports: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  /** Packages that the user provides, in a range of versions. */
  readonly peers?: Readonly<Record<string, string>>;
  /**
   * Packages that are imported only if installed, but not declared as peers. Either their own peers contradict ours, so
   * that npm would refuse to install, or only development needs them, and `npm ci --omit=dev` does not omit declared
   * peers.
   */
  readonly unnamed?: readonly string[];
  /** Packages that it writes into an agent's package.json, so their versions must be known. */
  readonly writes?: readonly string[];
}

/** Provided by the user, whose tools import it, too: two copies would have incompatible types. */
const OF_THE_USER = ["zod"];

/**
 * Returns the package.json of a package that was built into `folder`. Its dependencies are the packages that its files
 * import, in the repository's versions. Optional dependencies become optional peers.
 */
export async function toManifest(pkg: Package, folder: string, repository: RepositoryManifest): Promise<object> {
  const { version, license, dependencies, optionalDependencies, devDependencies } = repository;
  const { name, description, bin, writes = [], unnamed = [], peers: given = {} } = pkg;
  const known = [name, ...Object.keys(given), ...unnamed];
  const imported = (await importedBy(folder)).filter((each) => !known.includes(each));
  const optional = imported.filter((each) => each in optionalDependencies);
  const needed = imported.filter((each) => !optional.includes(each));
  const unknown = needed.filter((each) => !(each in dependencies));
  if (unknown.length > 0) throw new Error(`${name} imports what package.json does not name: ${unknown.join(", ")}`);
  const versionOf = (each: string) => dependencies[each] ?? optionalDependencies[each] ?? devDependencies[each] ?? "";
  const isOfUser = (each: string) => OF_THE_USER.includes(each);
  const own = needed.filter((each) => !isOfUser(each));
  const rangeOf = (each: string) => (isOfUser(each) ? `^${versionOf(each)}` : versionOf(each));
  const peers = { ...given, ...pick([...needed.filter(isOfUser), ...optional], rangeOf) };
  return {
    name,
    version,
    description,
    license,
    type: "module",
    engines: { node: ">=22.18" },
    ...(bin && { bin: pick(Object.keys(bin), (each) => `dist/${toJs(bin[each])}`) }),
    exports: {
      ...pick(Object.keys(pkg.exports), (each) => toEntry(pkg.exports[each])),
      "./package.json": "./package.json",
    },
    dependencies: pick(own, versionOf),
    ...(Object.keys(peers).length > 0 && { peerDependencies: peers }),
    ...(optional.length > 0 && { peerDependenciesMeta: pick(optional, () => ({ optional: true })) }),
    // Not installed for users of the package.
    ...(writes.length > 0 && { devDependencies: pick(writes, versionOf) }),
  };
}

const toJs = (path = "") => path.replace(/\.ts$/, ".js");
const toEntry = (path = "") => ({
  types: `./dist/${path.replace(/\.ts$/, ".d.ts")}`,
  default: `./dist/${toJs(path)}`,
});

function pick<Value>(names: readonly string[], valueOf: (name: string) => Value): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)]));
}

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\n]+)["']/g;

/** Returns the packages that the built files import, including for types. */
async function importedBy(folder: string): Promise<string[]> {
  const files = await Array.fromAsync(glob("**/*.{js,d.ts}", { cwd: folder }));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  const paths = texts.flatMap((text) => [...text.matchAll(IMPORT)].map(([, path = ""]) => path));
  const names = paths.flatMap((path) => /^(?!node:)(@[\w.-]+\/[\w.-]+|[a-z][\w.-]*)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}
