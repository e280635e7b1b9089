import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "./containers.ts";

interface ComposeFile {
  readonly services: Readonly<Record<string, { readonly image?: string; readonly profiles?: readonly string[] }>>;
}

const COMPOSE_FILES = ["docker-compose.yml", "template/docker-compose.yml"];
const DOCKERFILES = ["Dockerfile", "template/Dockerfile"];

/** Every image that the repository's containers use or are built on, except for services with profiles. */
export async function imagesInUse(): Promise<string[]> {
  const [composed, built] = await Promise.all([COMPOSE_FILES, DOCKERFILES].map(readAll));
  const services = (composed ?? []).flatMap((text) =>
    Object.values((parse(text, { merge: true }) as ComposeFile).services),
  );
  const run = services.flatMap(({ image, profiles }) => (profiles || image === undefined ? [] : image));
  const bases = (built ?? []).flatMap((text) =>
    [...text.matchAll(/^FROM (\S+)/gm)].flatMap(([, image]) => image ?? []),
  );
  return [...new Set([...run, ...bases])];
}

async function readAll(files: readonly string[]): Promise<string[]> {
  return Promise.all(files.map((file) => readFile(join(ROOT, file), "utf8")));
}
