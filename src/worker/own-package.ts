import { readFileSync } from "node:fs";

type Versions = Readonly<Record<string, string>>;
interface Manifest {
  readonly version: string;
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
  readonly devDependencies?: Versions;
}

/** package.json is two folders above both `src/worker/` in the repository and `dist/worker/` in a package. */
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as Manifest;
const { devDependencies, peerDependencies, optionalDependencies, dependencies } = manifest;
const versions: Versions = { ...devDependencies, ...peerDependencies, ...optionalDependencies, ...dependencies };

export const OWN_VERSION: string = manifest.version;

/**
 * Returns the version of a package that this release is tested with.
 *
 * @throws {TypeError} if the release does not use the package
 */
export function versionOf(name: string): string {
  const version = versions[name];
  if (version === undefined) throw new TypeError(`package.json does not list ${name}`);
  return version;
}

/**
 * Returns the command that installs a package for development. The command names no version if package.json does not
 * list the package.
 */
export function howToInstall(name: string): string {
  return `npm install --save-dev ${name in versions ? `${name}@${versionOf(name)}` : name}`;
}
