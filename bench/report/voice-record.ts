import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toTable } from "./tables.ts";

const ROOT = join(import.meta.dirname, "../..");
const RECORDED = join(ROOT, "bench/results/voice.json");
const PAGE = join(ROOT, "docs/voice.md");

/** Minimum, median and maximum, in ms. */
export type Spread = readonly [number, number, number];

/** Medians in ms, by agent. */
type Medians = Readonly<Record<"Parley" | "Parley, speculate: false" | "agents-js", number>>;

/** The measurements in docs/voice.md. Each bench that runs with `RECORD=1` replaces its own part. */
export interface VoiceRecord {
  /** Measured from the end of the participant's speech, by moment. */
  readonly answer: Readonly<Record<string, Spread>>;
  /** Measured from the first sound of an interruption, by moment. */
  readonly interruption: Readonly<Record<string, Spread>>;
  /** Compared with a stock agent. `at` is a date such as 2026-11-25. */
  readonly beside: { readonly at: string; readonly medians: Readonly<Record<string, Medians>> };
  readonly coughs: { readonly at: string; readonly count: number; readonly lost: number };
  readonly interruptions: { readonly at: string; readonly count: number; readonly stopped: number };
}

export async function readVoiceRecord(): Promise<VoiceRecord> {
  return JSON.parse(await readFile(RECORDED, "utf8")) as VoiceRecord;
}

/** Records a bench's measurements and writes them into docs/voice.md. Does nothing without `RECORD=1`. */
export async function recordVoice(
  change: Partial<VoiceRecord> | ((known: VoiceRecord) => Partial<VoiceRecord>),
): Promise<void> {
  if (process.env["RECORD"] !== "1") return;
  const known = await readVoiceRecord();
  const record = { ...known, ...(typeof change === "function" ? change(known) : change) };
  await writeFile(RECORDED, `${JSON.stringify(record, null, 2)}\n`);
  await writeFile(PAGE, writeVoice(await readFile(PAGE, "utf8"), record));
}

export const today = () => new Date().toISOString().slice(0, 10);

/**
 * Replaces the figures between `<!-- recorded: … -->` and `<!-- /recorded -->` in a page.
 *
 * @throws {TypeError} if the page does not have each of these places exactly once
 */
export function writeVoice(page: string, record: VoiceRecord): string {
  const { coughs, interruptions } = record;
  const texts: Readonly<Record<string, string>> = {
    answer: `\n\n${spreads(record.answer)}\n\n`,
    interruption: `\n\n${spreads(record.interruption)}\n\n`,
    coughs:
      `${coughs.lost} of ${coughs.count} coughs and other short sounds in which nothing is understood cost the answer a ` +
      `word (${coughs.at}); ${interruptions.stopped} of ${interruptions.count} interruptions stopped it (${interruptions.at})`,
    "beside-at": record.beside.at,
    beside: `\n\n${besideStock(record.beside.medians)}\n\n`,
  };
  const names: string[] = [];
  const written = page.replaceAll(
    /(?<=<!-- recorded: ([\w-]+) -->)[^]*?(?=<!-- \/recorded -->)/g,
    (old: string, name: string) => {
      names.push(name);
      return texts[name] ?? old;
    },
  );
  if (names.toSorted().join() !== Object.keys(texts).toSorted().join())
    throw new TypeError(`The page has places for ${names.join(", ")}: expected ${Object.keys(texts).join(", ")}`);
  return written;
}

function spreads(rows: Readonly<Record<string, Spread>>): string {
  return toTable(
    ["", "least", "middle", "most"],
    Object.entries(rows).map(([title, values]) => [title, ...values.map(inMs)]),
  );
}

function besideStock(medians: Readonly<Record<string, Medians>>): string {
  const rows = Object.entries(medians).map(
    ([title, { Parley, "Parley, speculate: false": plain, "agents-js": stock }]) => {
      const besides = [Parley, plain].map((ms) => `${inMs(ms)} (${(ms / stock).toFixed(2)})`);
      return [title, ...besides, inMs(stock)];
    },
  );
  return toTable(["", "Parley", "with `speculate: false`", "agents-js"], rows);
}

function inMs(ms: number): string {
  return ms.toLocaleString("en-US");
}
