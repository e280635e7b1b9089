import { HOW_TO_CREATE, IS_PUBLISHED } from "../published.ts";
import { runUnprepared } from "../run-unprepared.ts";
import { TalkError } from "../talk/talk-error.ts";
import { describeAgent, nextSteps } from "./describe-agent.ts";
import { readFolder } from "./read-folder.ts";
import { runInit } from "./run-init.ts";

const usageOf = (name: string) => `Usage: ${name} [folder]

Makes a folder with a first agent: a config file, a server tool, a client with its own tool, a test, and containers.
Without a folder it uses the working folder. It never changes existing files other than package.json.

  --help              this text`;

/** `parley init` and `create-parley`: creates an agent whose packages come from a registry. */
export async function initCommand(name: string, args: readonly string[]): Promise<void> {
  await runUnprepared(name, usageOf(name), async () => {
    const folder = readFolder(args, ".");
    if (folder === undefined) return undefined;
    if (!IS_PUBLISHED)
      throw new TalkError(
        `Parley's packages are not on a registry yet, so npm cannot install them. Use: ${HOW_TO_CREATE}`,
      );
    const files = await runInit(folder);
    console.log(`${describeAgent(folder, files)}\n\n${nextSteps(folder, ["npm install"], files.ownScripts)}`);
    return 0;
  });
}
