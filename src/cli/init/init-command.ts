import { parseArgs } from "node:util";
import { runCommandLine } from "../run-command-line.ts";
import { UsageError } from "../talk/options.ts";
import { runInit } from "./run-init.ts";

const usageOf = (name: string) => `Usage: ${name} [folder]

Makes a folder with a first agent: a config file, a server tool, a client with a tool of its own, a test, and containers.
Without a name it is the working folder. Files that are there already are not touched.

  --help              this text`;

/** `parley init` and `npm create parley`. */
export async function initCommand(name: string, args: readonly string[]): Promise<void> {
  await runCommandLine(name, usageOf(name), async () => {
    const { values, positionals } = readArguments(args);
    if (values.help) return undefined;
    const [named = ".", ...more] = positionals;
    const folder = named || ".";
    if (more.length > 0) throw new UsageError(`expected one folder, got ${positionals.length}`);
    const { agent, forTools, left } = await runInit(folder);
    console.log(`Made in ${folder}: ${agent.join(", ")}`);
    if (forTools.length > 0) console.log(`For git and editors: ${forTools.join(", ")}`);
    if (left.length > 0) console.log(`Left as it was: ${left.join(", ")}`);
    console.log();
    console.log(nextSteps(folder));
    return 0;
  });
}

function readArguments(args: readonly string[]) {
  try {
    const options = { help: { type: "boolean", default: false } } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function nextSteps(folder: string): string {
  const lines = [
    ...(folder === "." ? [] : [[`cd ${/^[\w./~-]+$/u.test(folder) ? folder : `'${folder}'`}`, ""]]),
    ["npm install", ""],
    ["npm run doctor", "what is missing on this machine, and what to do about it"],
    ["npm start", "everything: LiveKit, PostgreSQL, a scripted model, the worker"],
    ["npm run talk", "in a second terminal"],
    ["npm test", ""],
  ];
  return lines.map(([command = "", does]) => `  ${does ? `${command.padEnd(16)} # ${does}` : command}`).join("\n");
}
