#!/usr/bin/env node
// The program of the package `create-parley`. Checks the Node version before it imports anything else.
import { nodeProblem } from "../doctor/node-version.ts";

const NAME = "create-parley";
const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  // Import dynamically: on an old Node version, a static import would fail with a SyntaxError before `problem` is
  // shown.
  const { initCommand } = await import("./init-command.ts");
  await initCommand(NAME, process.argv.slice(2));
} else {
  process.stderr.write(`${NAME}: ${problem}\n`);
  process.exitCode = 1;
}
