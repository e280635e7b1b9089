import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toBarChart, toTimeChart } from "./chart.ts";
import type { FigureName } from "./figures.ts";
import type { Result } from "./result.ts";
import { toSetting, toTables } from "./tables.ts";

const ROOT = join(import.meta.dirname, "../..");
const RECORDED = join(ROOT, "bench/results/recorded.json");
const PAGE = join(ROOT, "docs/performance.md");
const CHARTS: Readonly<Record<string, readonly FigureName[]>> = {
  "answers.svg": ["answer", "toolAnswer", "longAnswer"],
  "cpu.svg": ["cpu", "toolCpu", "longCpu"],
  "burst.svg": ["burst", "burstLast", "join"],
};
const TURN: readonly FigureName[] = ["spanBegin", "spanFirstCall", "spanTool", "spanNext", "spanSecondCall", "spanEnd"];

/** Returns the recorded result, or `undefined` if nothing was recorded yet. */
export async function readRecorded(): Promise<Result | undefined> {
  const text = await readFile(RECORDED, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Result);
}

export async function writeLatest(result: Result): Promise<void> {
  await write(join(ROOT, "bench/results/latest.json"), toJson(result));
}

/** Records a result that later runs are compared with, and writes its tables and charts into docs/performance.md. */
export async function record(result: Result): Promise<void> {
  await write(RECORDED, toJson(result));
  for (const [path, text] of await toDocs(result)) await write(path, text);
}

/** Returns the files that show a result, by path: the page with the result's tables, and the charts. */
export async function toDocs(result: Result): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(PAGE, "utf8");
  const [before = "", after = ""] = page.split(/<!-- recorded -->[^]*<!-- \/recorded -->/);
  const recorded = `${toSetting(result)}.\n\n${toTables(result)}`;
  const images = join(ROOT, "docs/images");
  return new Map([
    [PAGE, `${before}<!-- recorded -->\n\n${recorded}\n\n<!-- /recorded -->${after}`],
    [join(images, "turn.svg"), toTimeChart(TURN, result.figures)],
    ...Object.entries(CHARTS).map(([file, names]) => [join(images, file), toBarChart(names, result.figures)] as const),
  ]);
}

function toJson(result: Result): string {
  return `${JSON.stringify(result, null, 2)}\n`;
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
}
