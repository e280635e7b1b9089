import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { startParley } from "../arms/parley.ts";
import { clockMs } from "../clock.ts";
import { type Bench, repeat } from "./work.ts";

const ROOT = join(import.meta.dirname, "../..");
const MODULES = 20;
const FUNCTIONS = 30;
/** Modules and functions below this CPU time per turn, in ms, are omitted as noise. */
const MIN_MS = 0.01;

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The id of the node that was running when each sample was taken. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  /** When the profile began, by the system's monotonic clock, in µs. */
  readonly startTime: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/**
 * The CPU time of the session's process per turn, in ms, by module and by function, largest first. Includes the cost of
 * sampling.
 */
export interface Profile {
  readonly modules: Readonly<Record<string, number>>;
  readonly functions: Readonly<Record<string, number>>;
}

/** Profiles plain turns in a process that has warmed up. */
export async function measureProfile({ databaseUrl, model, extent, progress }: Bench): Promise<Profile> {
  progress("profile of a turn");
  await using folder = await tempFolder();
  const turns = extent.rounds * extent.questions;
  const env = { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=250 --cpu-prof-dir=${folder.path}` };
  let [from, to] = [0, 0];
  {
    await using arm = await startParley({ databaseUrl, modelUrl: model.url, env });
    await using talk = await arm.join("plain");
    await repeat(extent.warmUp, () => talk.ask("plain"));
    from = clockMs();
    await repeat(turns, () => talk.ask("plain"));
    to = clockMs();
  }
  const files = (await readdir(folder.path)).filter((file) => file.endsWith(".cpuprofile"));
  const texts = await Promise.all(files.map((file) => readFile(join(folder.path, file), "utf8")));
  const selves = texts.map((text) => selfTimes(JSON.parse(text) as CpuProfile, { from, to }));
  const [busiest = []] = selves.toSorted((a, b) => total(b) - total(a));
  return {
    modules: rank(busiest, ({ module }) => module, { turns, most: MODULES }),
    functions: rank(busiest, ({ module, name }) => `${name}, ${module}`, { turns, most: FUNCTIONS }),
  };
}

interface SelfTime {
  readonly module: string;
  readonly name: string;
  readonly ms: number;
}

function selfTimes({ nodes, samples, timeDeltas, startTime }: CpuProfile, window: { from: number; to: number }) {
  const places = placesOf(nodes);
  const selves: SelfTime[] = [];
  let at = startTime / 1_000;
  for (const [index, id] of samples.entries()) {
    const ms = (timeDeltas[index] ?? 0) / 1_000;
    at += ms;
    const place = places.get(id);
    if (place && place.name !== "(idle)" && at >= window.from && at <= window.to) selves.push({ ...place, ms });
  }
  return selves;
}

/** Returns the module and function of each node. A native function is counted for the module that calls it. */
function placesOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, Omit<SelfTime, "ms">> {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const moduleOf = (node: ProfileNode): string => {
    const { url, functionName } = node.callFrame;
    if (url !== "") return toModule(url);
    if (functionName.startsWith("(")) return functionName;
    const parent = byId.get(parents.get(node.id) ?? 0);
    return parent ? moduleOf(parent) : "(root)";
  };
  return new Map(
    nodes.map((node) => [node.id, { module: moduleOf(node), name: node.callFrame.functionName || "(anonymous)" }]),
  );
}

/** Returns the name of a package, a folder of `src/`, or a Node module. */
function toModule(url: string): string {
  const packageName = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (packageName !== undefined) return packageName;
  if (url.startsWith("node:")) return url.replace(/^(node:internal\/[^/]+|node:[^/]+).*$/, "$1");
  const path = url.slice(url.indexOf(ROOT) + ROOT.length + 1);
  return path.split("/").slice(0, -1).join("/");
}

function total(selves: readonly SelfTime[]): number {
  return selves.reduce((sum, { ms }) => sum + ms, 0);
}

function rank(
  selves: readonly SelfTime[],
  keyOf: (self: SelfTime) => string,
  { turns, most }: { readonly turns: number; readonly most: number },
): Readonly<Record<string, number>> {
  const groups = [...Map.groupBy(selves, keyOf)].map(([key, own]) => [key, total(own) / turns] as const);
  const ranked = groups.toSorted(([, a], [, b]) => b - a).filter(([, ms]) => ms >= MIN_MS);
  return Object.fromEntries(ranked.slice(0, most).map(([key, ms]) => [key, Math.round(ms * 100) / 100]));
}
