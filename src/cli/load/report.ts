import type { DriverCost } from "./driver-cost.ts";
import type { Measurements } from "./run-load.ts";

/** Percentiles of a duration, in milliseconds. */
interface Figures {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export interface LoadReport {
  readonly join: Figures | undefined;
  readonly firstWord: Figures | undefined;
  readonly answer: Figures | undefined;
  readonly answerWithClientTool: Figures | undefined;
  readonly answerWithServerTool: Figures | undefined;
  /** From the end of a participant's first spoken question to the agent's first sound. */
  readonly firstSpeechToSound: Figures | undefined;
  /** From the end of a later spoken question to the agent's first sound. */
  readonly speechToSound: Figures | undefined;
  readonly errors: Readonly<Record<string, number>>;
  readonly driver: DriverCost;
}

export function toReport({
  joins,
  firstWords,
  answers,
  firstSounds,
  sounds,
  errors,
  driver,
}: Measurements & { readonly driver: DriverCost }): LoadReport {
  return {
    join: toFigures(joins),
    firstWord: toFigures(firstWords),
    answer: toFigures(answers.plain),
    answerWithClientTool: toFigures(answers.client),
    answerWithServerTool: toFigures(answers.server),
    firstSpeechToSound: toFigures(firstSounds),
    speechToSound: toFigures(sounds),
    errors: Object.fromEntries(errors),
    driver,
  };
}

/** Formats the report as a table for a terminal. */
export function toTable(report: LoadReport): string {
  const rows = [
    ["join", report.join],
    ["first word", report.firstWord],
    ["whole answer", report.answer],
    ["… with a client tool", report.answerWithClientTool],
    ["… with a server tool", report.answerWithServerTool],
    ["end of speech to sound", report.speechToSound],
    ["… first of each room", report.firstSpeechToSound],
  ] as const;
  const header = ["", "count", "p50 ms", "p95 ms", "max ms"];
  const lines = rows.flatMap(([name, figures]) =>
    figures ? [[name, figures.count, figures.p50, figures.p95, figures.max].map(String)] : [],
  );
  const table = [header, ...lines].map(([name = "", ...cells]) =>
    [name.padEnd(23), ...cells.map((cell) => cell.padStart(9))].join(""),
  );
  const failed = Object.entries(report.errors).map(([text, count]) => `${count} × ${text}`);
  const { cpuPercent, lateMs } = report.driver;
  return [
    ...table,
    failed.length === 0 ? "no errors" : `errors:\n${failed.join("\n")}`,
    `this driver: ${cpuPercent} % of a core, late by ${lateMs} ms at most in 99 of 100 moments`,
  ].join("\n");
}

function toFigures(times: readonly number[]): Figures | undefined {
  if (times.length === 0) return undefined;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 10) / 10;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}
