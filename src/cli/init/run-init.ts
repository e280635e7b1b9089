import { existsSync } from "node:fs";
import { cp, glob, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../../lib/json.ts";
import { TalkError } from "../talk/talk-error.ts";
import { ownScripts, toPackageJson } from "./to-package-json.ts";

/** The folder `template/`, which is next to `src/` in the repository, and next to `dist/` in a package. */
const TEMPLATE = fileURLToPath(new URL("../../../template/", import.meta.url));
/**
 * Names of files in the template, with the names that they get in an agent's folder. The names differ because npm
 * excludes .gitignore from packages, and because editors would apply a tsconfig.json in the template.
 */
const RENAMED_FILES: Readonly<Record<string, string>> = {
  _dockerignore: ".dockerignore",
  _gitignore: ".gitignore",
  "_tsconfig.json": "tsconfig.json",
};

/** Files that an existing project may already have. The project's files are kept; the agent works with them, too. */
const SHARED_FILES: ReadonlySet<string> = new Set([
  ...Object.values(RENAMED_FILES),
  "Dockerfile",
  "docker-compose.yml",
]);

/** The names of the files that were written, and of the files and scripts that were left unchanged. */
export interface Written {
  /** The agent's own files. */
  readonly agent: readonly string[];
  /** Files for git, editors and containers. */
  readonly forTools: readonly string[];
  /** Files that already existed. They are unchanged. */
  readonly left: readonly string[];
  /** Scripts that the project already uses for something else. They are unchanged. */
  readonly ownScripts: readonly string[];
  /** Whether package.json had `"type": "commonjs"`. An agent needs "module". */
  readonly wasCommonJs: boolean;
}

/**
 * Creates a folder with a first agent, or adds an agent to a folder that has a package.json.
 *
 * @throws {TalkError} when one of the agent's own files already exists or the folder is not usable (nothing is
 *   written), or when writing fails
 */
export async function runInit(path: string): Promise<Written> {
  const folder = resolve(path);
  if (folder.split(sep).includes("node_modules"))
    throw new TalkError(`${folder}: Node does not run TypeScript below node_modules. Choose another folder`);
  const entries = (await Array.fromAsync(glob("**/*", { cwd: TEMPLATE }))).toSorted();
  const isFile = await Promise.all(entries.map(async (entry) => (await stat(join(TEMPLATE, entry))).isFile()));
  const files = entries
    .filter((_, index) => isFile[index])
    .map((source) => ({ source, name: RENAMED_FILES[source] ?? source }));
  const there = files.map(({ name }) => name).filter((name) => existsSync(join(folder, name)));
  const taken = there.filter((name) => !SHARED_FILES.has(name));
  if (taken.length > 0)
    throw new TalkError(`${folder} already has ${taken.join(", ")}. Nothing was written: choose another folder`);
  const missing = files.filter(({ name }) => !there.includes(name));
  const manifestPath = join(folder, "package.json");
  const existing = await readManifest(manifestPath);
  const manifest = toPackageJson(existing, basename(folder));
  try {
    for (const { source, name } of missing) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await cp(join(TEMPLATE, source), join(folder, name));
    }
    await writeFile(manifestPath, `${JSON.stringify(manifest, null, 2)}\n`);
  } catch (error) {
    // Show only the first part of "EACCES: permission denied, mkdir '/srv/agent'". When a copy fails, the rest of the
    // message shows the path of the template's file.
    const why = error instanceof Error ? error.message.split(", ")[0] : String(error);
    throw new TalkError(`${folder} cannot be written to (${why}). Choose another folder`, { cause: error });
  }
  const namesOf = (isRenamed: boolean) =>
    missing.filter(({ source }) => source in RENAMED_FILES === isRenamed).map(({ name }) => name);
  return {
    agent: ["package.json", ...namesOf(false)],
    forTools: namesOf(true),
    left: there.toSorted(),
    ownScripts: ownScripts(existing),
    wasCommonJs: "type" in existing && existing.type === "commonjs",
  };
}

/** Reads an existing project's package.json. Returns `{}` if there is none. */
async function readManifest(path: string): Promise<object> {
  if (!existsSync(path)) return {};
  let manifest: unknown;
  try {
    manifest = JSON.parse(await readFile(path, "utf8"));
  } catch {
    // Invalid JSON is reported below.
  }
  if (isRecord(manifest)) return manifest;
  throw new TalkError(`${path} is not a JSON object. Nothing was written: correct that file first`);
}
