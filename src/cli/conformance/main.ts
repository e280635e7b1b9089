#!/usr/bin/env node
// The program of the package `@parley/conformance`. Checks the Node version before it imports anything else.
import { nodeProblem } from "../doctor/node-version.ts";

const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  // Import dynamically: on an old Node version, a static import would fail with a SyntaxError before `problem` is
  // shown.
  const { runConformance } = await import("./run-conformance.ts");
  await runConformance(process.argv.slice(2));
} else {
  process.stderr.write(`parley-conformance: ${problem}\n`);
  process.exitCode = 1;
}
