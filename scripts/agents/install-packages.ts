import { spawn } from "node:child_process";
import { once } from "node:events";
import { TalkError } from "../../src/cli/talk/talk-error.ts";
import { quote } from "../../src/cli/init/describe-agent.ts";
import { ensurePackages } from "./ensure-packages.ts";
import { givePackages } from "./give-packages.ts";
import { installerEnvironment } from "../../src/tool/program-environment.ts";

/**
 * Builds this repository's packages, copies them into an agent's folder, and runs `npm install` there.
 *
 * @param named the folder as typed by the user. @throws {TalkError} if npm fails; the folder is kept
 */
export async function installPackages(folder: string, named: string): Promise<void> {
  const specs = await givePackages(folder, await ensurePackages());
  process.stdout.write(`\nIn ${named}: npm install ${specs.join(" ")}\n`);
  const [code] = (await once(
    spawn("npm", ["install", ...specs], { cwd: folder, stdio: "inherit", env: installerEnvironment() }),
    "close",
  )) as [number];
  if (code !== 0)
    throw new TalkError(
      `npm install failed in ${named} with status ${code}; its output above says why. ` +
        `The folder was kept. Once the cause is fixed, run: npm run update -- ${quote(named)}`,
    );
}
