import { readFile, writeFile } from "node:fs/promises";
import { checkClient } from "../../conformance/client/check-client.ts";
import { toHtml } from "../../conformance/report/to-html.ts";
import { toTable } from "../../conformance/report/to-table.ts";
import { parseExpected, summarize } from "../../conformance/run/expected.ts";
import type { Verdict } from "../../conformance/run/run-suites.ts";
import { checkWorker } from "../../conformance/worker/check-worker.ts";
import { runCommandLine } from "../run-command-line.ts";
import { fetchToken } from "../talk/fetch-token.ts";
import { type ConformanceOptions, parseConformanceOptions, USAGE } from "./options.ts";
import { provideLivekit } from "./provide-livekit.ts";

/** `parley conformance`: checks a client or a worker, prints the verdicts, and ends the process. */
export async function runConformance(args: readonly string[]): Promise<void> {
  await runCommandLine("conformance", USAGE, async () => {
    const options = parseConformanceOptions(args);
    if (!options) return undefined;
    const expected = options.expected === undefined ? [] : parseExpected(await readFile(options.expected, "utf8"));
    const summary = summarize(await check(options), expected);
    process.stdout.write(`${toTable(summary)}\n`);
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(summary, null, 2)}\n`);
    if (options.html !== undefined) await writeFile(options.html, toHtml(summary, `Conformance of a ${options.role}`));
    return summary.status;
  });
}

async function check(options: ConformanceOptions): Promise<Verdict[]> {
  if (options.role === "worker") {
    const { url: httpUrl } = options;
    const tokenSecret = process.env["TOKEN_SECRET"] || undefined;
    return checkWorker((room, identity) => fetchToken({ httpUrl, room, identity, tokenSecret }));
  }
  await using livekit = await provideLivekit(process.env);
  return await checkClient({ livekit, command: options.command });
}
