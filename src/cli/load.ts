import { parseLoadOptions, USAGE } from "./load/options.ts";
import { toReport, toTable } from "./load/report.ts";
import { runLoad } from "./load/run-load.ts";
import { runCommandLine } from "./run-command-line.ts";

/** Exits with 1 if anything failed in any conversation. */
await runCommandLine("load", USAGE, async () => {
  const options = parseLoadOptions(process.argv.slice(2), process.env);
  if (!options) return undefined;
  const report = toReport(await runLoad(options));
  console.log(options.isJson ? JSON.stringify(report) : toTable(report));
  return Object.keys(report.errors).length === 0 ? 0 : 1;
});
