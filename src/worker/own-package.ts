import { readFileSync } from "node:fs";

type Versions = Readonly<Record<string, string>>;
interface Manifest {
  readonly version: string;
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
  readonly devDependencies?: Versions;
}

/** Two folders up, from `src/` in the repository as from `dist/` in a package that is made of it. */
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as Manifest;
const { devDependencies, peerDependencies, optionalDependencies, dependencies } = manifest;
const versions: Versions = { ...devDependencies, ...peerDependencies, ...optionalDependencies, ...dependencies };

export const OWN_VERSION: string = manifest.version;

/** The version of another package that this release is tested with. @throws {TypeError} when it uses none */
export function versionOf(name: string): string {
  const version = versions[name];
  if (version === undefined) throw new TypeError(`package.json names no ${name}`);
  return version;
}

/** How to install a package that only development needs. An image's package.json may not name it any more. */
export function howToInstall(name: string): string {
  return `npm install --save-dev ${name in versions ? `${name}@${versionOf(name)}` : name}`;
}
