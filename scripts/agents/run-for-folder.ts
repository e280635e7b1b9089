import { resolve } from "node:path";
import { runCommandLine } from "../../src/cli/run-command-line.ts";
import { readFolder } from "../../src/cli/init/read-folder.ts";

interface Folder {
  readonly path: string;
  /** The path as typed by the user. */
  readonly named: string;
}

/**
 * Runs a command of this repository for the folder in its arguments. A relative path starts where the user ran the
 * command.
 */
export async function runForFolder(name: string, usage: string, run: (folder: Folder) => Promise<void>): Promise<void> {
  await runCommandLine(name, usage, async () => {
    const named = readFolder(process.argv.slice(2));
    if (named === undefined) return undefined;
    // npm runs scripts in the repository's folder. INIT_CWD is the folder in which the user ran npm.
    await run({ path: resolve(process.env["INIT_CWD"] ?? ".", named), named });
    return 0;
  });
}
