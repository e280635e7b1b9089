import { inspect } from "node:util";
import { AppError } from "../errors/app-error.ts";
import { hideSecrets } from "../lib/checks/hide-secrets.ts";
import { UsageError, VersionRequest } from "../worker/settings/command-line.ts";
import { OWN_VERSION } from "../worker/own-package.ts";
import { TalkError } from "./talk/talk-error.ts";

/**
 * Runs a command and exits the process with its status: 0 for success, 1 for failure, 2 for a wrong command line. Does
 * not change the environment.
 *
 * @param run resolves with the status, or with `undefined` for `--help`
 */
export async function runUnprepared(name: string, usage: string, run: () => Promise<number | undefined>) {
  const status = await attempt(name, usage, run);
  // Exit explicitly: LiveKit's native library can keep the process alive for seconds after leaving the room.
  process.stdout.write("", () => process.exit(status));
}

async function attempt(name: string, usage: string, run: () => Promise<number | undefined>): Promise<number> {
  try {
    const status = await run();
    if (status === undefined) console.log(usage);
    return status ?? 0;
  } catch (error) {
    if (error instanceof VersionRequest) {
      console.log(OWN_VERSION);
      return 0;
    }
    if (error instanceof UsageError) {
      console.error(`${name}: ${hideSecrets(error.message)}\n\n${usage}`);
      return 2;
    }
    const isPlain = error instanceof TalkError || error instanceof AppError;
    console.error(hideSecrets(isPlain ? `${name}: ${error.message}` : inspect(error)));
    return 1;
  }
}
