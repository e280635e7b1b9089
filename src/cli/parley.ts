#!/usr/bin/env node
import { ERASE_USAGE, parseEraseOptions } from "./erase/options.ts";
import { runErase } from "./erase/run-erase.ts";
import { EXPORT_USAGE, parseExportOptions } from "./export/options.ts";
import { runExport } from "./export/run-export.ts";
import { runPackets } from "./packets.ts";
import { runCommandLine } from "./run-command-line.ts";

const USAGE = `Usage: parley export | erase | decode | encode | conformance

  export       prints the transcript of a room's whole talk: parley export --help
  erase        removes all that is stored of a participant: parley erase --help
  decode       reads packets from stdin, hex or base64, one a line, and prints each as one line of JSON
  encode       does the reverse, in hex
  conformance  checks a client or a worker against the protocol: parley conformance --help
`;

const [command, ...rest] = process.argv.slice(2);
// The program that reads our output has ended (`| head`).
process.stdout.on("error", () => process.exit(1));
if (command === "export") {
  await runCommandLine("parley export", EXPORT_USAGE, async () => {
    const options = parseExportOptions(rest, process.env);
    if (!options) return undefined;
    await runExport(options, process.stdout);
    return 0;
  });
} else if (command === "erase") {
  await runCommandLine("parley erase", ERASE_USAGE, async () => {
    const options = parseEraseOptions(rest, process.env);
    if (!options) return undefined;
    console.log(await runErase(options));
    return 0;
  });
} else if (command === "conformance") {
  // Loaded when it is wanted: the other commands start without LiveKit.
  const { runConformance } = await import("./conformance/run-conformance.ts");
  await runConformance(rest);
} else if ((command === "decode" || command === "encode") && rest.length === 0) {
  process.exitCode = await runPackets(command);
} else {
  const isHelp = command === "--help" || command === "-h";
  (isHelp ? process.stdout : process.stderr).write(USAGE);
  process.exitCode = isHelp ? 0 : 2;
}
