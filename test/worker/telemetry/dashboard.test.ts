import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { printedSeries } from "./printed-series.ts";

const DASHBOARD = new URL("../../../deploy/telemetry/grafana/parley.json", import.meta.url);

test("every series that the dashboard queries is printed by /metrics", async () => {
  const { panels } = JSON.parse(await readFile(DASHBOARD, "utf8")) as {
    panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  };
  const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll(/ by \([^)]*\)/g, "")));
  const asked = exprs.flatMap((expr) => expr.match(/(?:gen_ai|parley)_[a-z_]+/g) ?? []);
  const printed = await printedSeries();

  expect(asked.length).toBeGreaterThanOrEqual(exprs.length);
  expect(asked.filter((name) => !printed.has(name))).toEqual([]);
});
