import { readFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { fillPlaces, record, today } from "./marked-places.ts";
import { toTable } from "./tables.ts";

const ROOT = join(import.meta.dirname, "../..");
const RECORDED = join(ROOT, "bench/results/talks.json");
const PAGE = join(ROOT, "docs/long-talks.md");

/** Two percentiles of a duration, in ms. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

interface Run {
  /** A date such as 2026-11-25. */
  readonly at: string;
  /** The load average before the run. */
  readonly load: number;
}

/** The measurements in docs/long-talks.md. Each bench that runs with `RECORD=1` replaces its own part. */
export interface TalksRecord {
  /** How long a session takes to be restored, first after few turns, then after many. */
  readonly restore: Run & {
    readonly turns: readonly [number, number];
    readonly ms: readonly [Percentiles, Percentiles];
    readonly kilobytes: readonly [number, number];
  };
  /** How long a worker that joins the room takes to open its session, first after few turns, then after many. */
  readonly join: Run & { readonly ms: readonly [Percentiles, Percentiles] };
  /** The time from a message to the first sentence of its answer, with summaries (`withNotes`) and without. */
  readonly notes: Run & {
    readonly turns: number;
    readonly pauseMs: number;
    readonly summaries: number;
    readonly withNotes: Percentiles;
    readonly without: Percentiles;
  };
}

export async function readTalksRecord(): Promise<TalksRecord> {
  return JSON.parse(await readFile(RECORDED, "utf8")) as TalksRecord;
}

/** Returns the date and the machine's load, which are recorded with every run. Call this before the run. */
export const thisRun = (): Run => ({
  at: today(),
  load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
});

/** Records a bench's measurements and writes them into docs/long-talks.md. Does nothing without `RECORD=1`. */
export async function recordTalks(change: Partial<TalksRecord>): Promise<void> {
  await record<TalksRecord>({ results: RECORDED, page: PAGE, write: writeTalks }, () => change);
}

/** @throws {TypeError} if the page does not contain each place exactly once */
export function writeTalks(page: string, { restore, join: joined, notes }: TalksRecord): string {
  const { turns, ms, kilobytes } = restore;
  const rows = [
    ["restore: median; 95th percentile, in ms", ...ms.map(figures)],
    ["until a worker that joins has the session open, the same", ...joined.ms.map(figures)],
    ["memory kept by the restored conversation, in kB", ...kilobytes.map(String)],
  ];
  const ratio = (share: keyof Percentiles) => (notes.withNotes[share] / notes.without[share]).toFixed(2);
  return fillPlaces(page, {
    "restore-setting": `${setting(restore)}; joins ${setting(joined)}`,
    restore: `\n\n${toTable(["", ...turns.map((count) => `${count.toLocaleString("en-US")} turns`)], rows)}\n\n`,
    notes:
      `${notes.turns.toLocaleString("en-US")} turns, ${notes.pauseMs} ms apart, with ${notes.summaries} notes: median ` +
      `${notes.withNotes.p50} and ${notes.without.p50} ms, p95 ${notes.withNotes.p95} and ${notes.without.p95} ms: ` +
      `${ratio("p50")} and ${ratio("p95")} times that without (${setting(notes)})`,
  });
}

const figures = ({ p50, p95 }: Percentiles) => `${p50}; ${p95}`;
const setting = ({ at, load }: Run) => `${at}, load ${load} before the run`;
