import { ARM_TITLES, type ArmName } from "../arms/arm.ts";
import { type Figure, FIGURES, type FigureName, type RatioFigure } from "./figures.ts";
import type { Result } from "./result.ts";

/** Formats a result as Markdown tables, which are also readable in a terminal. */
export function toTables(result: Result): string {
  const { figures, ratios, profile, bundles } = result;
  const arms = (Object.keys(ARM_TITLES) as ArmName[]).filter((arm) => Object.values(figures).some((own) => own[arm]));
  const rows = (Object.keys(FIGURES) as FigureName[]).flatMap((name) => {
    const own = figures[name];
    const { title, unit } = FIGURES[name];
    return own ? [[`${title}, ${unit}`, ...arms.map((arm) => toCell(own[arm]))]] : [];
  });
  const ratioRows = ratios.map((ratio) => [
    toTitle(ratio),
    ratio.value.toFixed(2),
    `${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)}`,
  ]);
  const bundleRows = Object.entries(bundles).map(([title, kb]) => [title, String(kb)]);
  const profileRows = (part: "modules" | "functions") =>
    Object.entries(profile?.[part] ?? {}).map(([name, ms]) => [name, ms.toFixed(2)]);
  return [
    toTable(["p50; p95 [medians of the rounds]", ...arms.map((arm) => ARM_TITLES[arm])], rows),
    toTable(["ratio, lower is better", "median", "band of the rounds"], ratioRows),
    toTable(["module of the session's process", "CPU a turn, ms"], profileRows("modules")),
    toTable(["function", "CPU a turn, ms"], profileRows("functions")),
    toTable(["bundle, minified and gzipped", "kB"], bundleRows),
  ]
    .filter((table) => table !== "")
    .join("\n\n");
}

/** Describes in one line what was measured, on which machine and with which versions. */
export function toSetting({ at, machine, versions, extent }: Result): string {
  const parts = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const isQuiet = machine.loadBefore < machine.cores / 2;
  const load = `load ${machine.loadBefore.toFixed(1)} before the run${isQuiet ? "" : " (OTHERS WERE COMPUTING: trust none of it)"}`;
  return `${at.slice(0, 16).replace("T", " ")} UTC, ${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, ${load}; ${extent.rounds} rounds of ${extent.questions} questions, ${extent.turns} turns in the long talk, ${extent.sessions} sessions and ${extent.rooms} rooms at once; ${parts.join(", ")}`;
}

export function toTitle({ of, to }: Pick<RatioFigure, "of" | "to">): string {
  const [figure, arm] = of;
  const [otherFigure, otherArm] = to;
  const other =
    figure === otherFigure ? ARM_TITLES[otherArm] : `${FIGURES[otherFigure].title}, ${ARM_TITLES[otherArm]}`;
  return `${FIGURES[figure].title}, ${ARM_TITLES[arm]} : ${other}`;
}

function toCell(figure: Figure | undefined): string {
  if (!figure) return "–";
  const { p50, p95, count, rounds } = figure;
  const band = rounds.length > 1 ? ` [${Math.min(...rounds)}–${Math.max(...rounds)}]` : "";
  return count === rounds.length ? `${p50}${band}` : `${p50}; ${p95}${band}`;
}

/** Formats a Markdown table. Returns an empty string if there are no rows. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const widths = header.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const toLine = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [toLine(header), rule, ...rows.map(toLine)].join("\n");
}
