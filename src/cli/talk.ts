import { existsSync } from "node:fs";
import { parseOptions, USAGE, UsageError } from "./talk/options.ts";
import { runTalk } from "./talk/run-talk.ts";
import { TalkError } from "./talk/talk-error.ts";

/** Resolves to the exit status: 0 when all went well, 1 when not, 2 for a wrong command line. */
async function main(): Promise<number> {
  try {
    // The worker reads this file too: its HTTP port may be there. The environment wins.
    if (existsSync(".env")) process.loadEnvFile(".env");
    const options = parseOptions(process.argv.slice(2), process.env);
    if (!options) {
      console.log(USAGE);
      return 0;
    }
    await runTalk(options);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`talk: ${error.message}\n\n${USAGE}`);
      return 2;
    }
    console.error(error instanceof TalkError ? `talk: ${error.message}` : error);
    return 1;
  }
}

const status = await main();
// LiveKit's native library may keep the process alive for seconds after the room was left.
process.stdout.write("", () => process.exit(status));
