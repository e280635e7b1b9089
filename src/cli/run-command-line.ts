import { existsSync } from "node:fs";
import { UsageError } from "./talk/options.ts";
import { TalkError } from "./talk/talk-error.ts";

/**
 * Runs a command and ends the process with its exit status: 0 when all went well, 1 when not, 2 for a wrong command line.
 *
 * @param run resolves with the status, or with `undefined` when help is asked for
 */
export async function runCommandLine(name: string, usage: string, run: () => Promise<number | undefined>) {
  const status = await attempt(name, usage, run);
  // LiveKit's native part may keep the process alive for seconds after the room was left.
  process.stdout.write("", () => process.exit(status));
}

async function attempt(name: string, usage: string, run: () => Promise<number | undefined>): Promise<number> {
  try {
    // The worker's own settings, above all its port. The environment wins over them.
    if (existsSync(".env")) process.loadEnvFile(".env");
    const status = await run();
    if (status === undefined) console.log(usage);
    return status ?? 0;
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${name}: ${error.message}\n\n${usage}`);
      return 2;
    }
    console.error(error instanceof TalkError ? `${name}: ${error.message}` : error);
    return 1;
  }
}
