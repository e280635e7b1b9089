import { existsSync } from "node:fs";
import { join } from "node:path";
import { quote } from "../src/cli/init/describe-agent.ts";
import { TalkError } from "../src/cli/talk/talk-error.ts";
import { installPackages } from "./agents/install-packages.ts";
import { runForFolder } from "./agents/run-for-folder.ts";

const USAGE = `Usage: npm run update -- <folder>

Gives an agent this clone's packages, and the versions of other packages that go with them. Changes package.json,
package-lock.json, packages/ and node_modules/, and nothing else.

  --help              this text`;

await runForFolder("update", USAGE, async ({ path, named }) => {
  if (!existsSync(join(path, "parley.config.ts")) || !existsSync(join(path, "package.json")))
    throw new TalkError(`${path} has no agent. To make one, run: npm run create -- ${quote(named)}`);
  await installPackages(path, named);
});
