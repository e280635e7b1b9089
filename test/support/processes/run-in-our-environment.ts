import { runCommand as runProgram } from "../../../src/worker/process/start-program.ts";

/** Runs a program with the whole environment of the tests: podman, npm, Go and apt are set up by variables. */
export function runCommand(...[command, args, place]: Parameters<typeof runProgram>): Promise<string> {
  return runProgram(command, args, { env: process.env, ...place });
}
