import { runCommand as runProgram } from "../../../src/worker/process/start-program.ts";

/** Runs a program with the tests' whole environment, because variables configure podman, npm, Go and apt. */
export function runCommand(...[command, args, place]: Parameters<typeof runProgram>): Promise<string> {
  return runProgram(command, args, { env: process.env, ...place });
}
