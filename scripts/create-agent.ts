import { existsSync } from "node:fs";
import { join } from "node:path";
import { describeAgent, nextSteps, quote } from "../src/cli/init/describe-agent.ts";
import { runInit } from "../src/cli/init/run-init.ts";
import { TalkError } from "../src/cli/talk/talk-error.ts";
import { installPackages } from "./agents/install-packages.ts";
import { runForFolder } from "./agents/run-for-folder.ts";

const USAGE = `Usage: npm run create -- <folder>

Makes a folder with a first agent, and installs this clone's packages there. In a folder that has a package.json already,
it adds what is missing and leaves existing files as they are.

  --help              this text`;

await runForFolder("create", USAGE, async ({ path, named }) => {
  if (existsSync(join(path, "parley.config.ts")))
    throw new TalkError(
      `${path} already has an agent. To give it this clone's packages, run: npm run update -- ${quote(named)}`,
    );
  const written = await runInit(path);
  process.stdout.write(`${describeAgent(named, written)}\n`);
  await installPackages(path, named);
  process.stdout.write(`\n${nextSteps(named, [], written.ownScripts)}\n`);
});
