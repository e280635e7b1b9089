#!/usr/bin/env node
import { runPackets } from "./packets.ts";

const USAGE = `Usage: parley decode | encode

  decode  reads packets from stdin, hex or base64, one a line, and prints each as one line of JSON
  encode  does the reverse, in hex
`;

const [command, ...rest] = process.argv.slice(2);
if ((command === "decode" || command === "encode") && rest.length === 0) {
  // The program that reads our output has ended (`| head`).
  process.stdout.on("error", () => process.exit(1));
  process.exitCode = await runPackets(command);
} else {
  const isHelp = command === "--help" || command === "-h";
  (isHelp ? process.stdout : process.stderr).write(USAGE);
  process.exitCode = isHelp ? 0 : 2;
}
