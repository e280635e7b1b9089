import { spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

interface RunOptions extends Pick<SpawnOptions, "uid" | "gid" | "env" | "cwd"> {
  readonly input?: string;
}

/** Runs a command to its end and gives its output. @throws {Error} with its output when it fails */
export async function runCommand(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { input = "", ...spawnOptions } = options;
  const child = spawn(command, args, { ...spawnOptions, detached: true, stdio: "pipe" });
  const closed = once(child, "close");
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [[code], output, errors] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`${command} ended with code ${code}: ${(errors || output).trim()}`);
  return output;
}
