import { runCommand } from "../../../tools/workspace/_run-command.ts";

/**
 * A process that runs a command as the tool `bash` does, until a test kills it: `command-process.ts <folder>
 * <command>`.
 */
const [, , cwd = "", command = ""] = process.argv;
await runCommand({
  argv: ["bash", "--noprofile", "--norc", "-c", command],
  cwd,
  env: {},
  signal: new AbortController().signal,
  onLine: (line) => process.stdout.write(`${line}\n`),
});
