import { ARM_TITLES, type ArmName } from "../arms/arm.ts";
import { type Figures, FIGURES, type FigureName } from "./figures.ts";

const WIDTH = 760;
const LABEL = 150;
const ROOM_FOR_VALUE = 110;
const BAR = 20;
const TITLE = 30;
const COLORS: Readonly<Record<ArmName, string>> = {
  parley: "#1f6f5c",
  "agents-js": "#b9722d",
  "agents-python": "#7a6aa8",
  floor: "#8a8f98",
};

/** Draws a bar chart. Each arm has a bar that ends at the median and a thin line that ends at p95. */
export function toBarChart(names: readonly FigureName[], figures: Figures): string {
  let y = 10;
  const parts: string[] = [];
  const most = Math.max(...names.flatMap((name) => Object.values(figures[name] ?? {}).map(({ p95 }) => p95)));
  const x = (value: number) => LABEL + ((WIDTH - LABEL - ROOM_FOR_VALUE) * value) / most;
  for (const name of names) {
    const { title, unit } = FIGURES[name];
    parts.push(`<text x="10" y="${y + 16}" font-weight="bold">${escape(title.replaceAll("`", ""))}, ${unit}</text>`);
    y += TITLE;
    for (const [arm, { p50, p95 }] of Object.entries(figures[name] ?? {}) as [
      ArmName,
      { p50: number; p95: number },
    ][]) {
      const middle = y + BAR / 2;
      parts.push(
        `<text x="${LABEL - 8}" y="${middle + 4}" text-anchor="end">${ARM_TITLES[arm]}</text>`,
        `<rect x="${LABEL}" y="${y}" width="${round(x(p50) - LABEL)}" height="${BAR - 4}" fill="${COLORS[arm]}"/>`,
        `<line x1="${round(x(p50))}" y1="${middle - 2}" x2="${round(x(p95))}" y2="${middle - 2}" stroke="${COLORS[arm]}"/>`,
        `<text x="${round(x(p95)) + 8}" y="${middle + 4}">${p50}${p95 === p50 ? "" : `; ${p95}`}</text>`,
      );
      y += BAR;
    }
    y += 12;
  }
  return toSvg(y, parts);
}

/** Draws a chart of the parts of a turn, one after another on a timeline. */
export function toTimeChart(names: readonly FigureName[], figures: Figures): string {
  const lengths = names.map((name) => ({ name, ms: figures[name]?.parley?.p50 ?? 0 }));
  const whole = lengths.reduce((sum, { ms }) => sum + Math.max(0, ms), 0);
  let from = 0;
  const parts = lengths.map(({ name, ms }, index) => {
    const scale = (WIDTH - 20) / 2 / whole;
    const [x, width, y] = [WIDTH / 2 + from * scale, Math.max(1, ms * scale), 12 + index * BAR];
    from += Math.max(0, ms);
    const title = `<text x="${WIDTH / 2 - 10}" y="${y + 12}" text-anchor="end">${escape(FIGURES[name].title)}: ${ms} ms</text>`;
    return `${title}<rect x="${round(x)}" y="${y}" width="${round(width)}" height="${BAR - 4}" fill="${COLORS.parley}"/>`;
  });
  return toSvg(12 + lengths.length * BAR + 8, parts);
}

function toSvg(height: number, parts: readonly string[]): string {
  const style = 'font-family="system-ui, sans-serif" font-size="12" fill="#333"';
  const background = `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" ${style}>\n${[background, ...parts].join("\n")}\n</svg>\n`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
