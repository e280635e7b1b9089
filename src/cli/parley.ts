#!/usr/bin/env node
import { COMMANDS } from "./commands.ts";
import { nodeProblem } from "./doctor/node-version.ts";
import { didYouMean } from "../lib/checks/did-you-mean.ts";
import { OWN_VERSION } from "../worker/own-package.ts";

const width = Math.max(...Array.from(COMMANDS.keys(), (name) => name.length)) + 2;
const lines = Array.from(COMMANDS, ([name, { does }]) => `  ${name.padEnd(width)}${does}\n`);
const USAGE = `Usage: npm run parley -- <command>\n\n${lines.join("")}\nOptions of a command: npm run parley -- <command> --help. The version: npm run parley -- --version\n`;

const [name = "", ...rest] = process.argv.slice(2);
const command = COMMANDS.get(name);
const problem = nodeProblem(process.versions.node);
// An error here means that the program that reads our output has exited (`| head`).
process.stdout.on("error", () => process.exit(1));
if (problem !== undefined) {
  process.stderr.write(`parley: ${problem}\n`);
  process.exitCode = 1;
} else if (command) await command.run(rest);
else if (name === "--version" || name === "-v") process.stdout.write(`${OWN_VERSION}\n`);
else {
  const isHelp = name === "--help" || name === "-h";
  const problem =
    isHelp || name === ""
      ? ""
      : `parley: "${name}" is not a command.${didYouMean(name, [...COMMANDS.keys(), "--help", "--version"])}\n\n`;
  (isHelp ? process.stdout : process.stderr).write(`${problem}${USAGE}`);
  process.exitCode = isHelp ? 0 : 2;
}
