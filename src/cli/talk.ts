import { runCommandLine } from "./run-command-line.ts";
import { parseOptions, USAGE } from "./talk/options.ts";
import { runTalk } from "./talk/run-talk.ts";

await runCommandLine("talk", USAGE, async () => {
  const options = parseOptions(process.argv.slice(2), process.env);
  if (!options) return undefined;
  await runTalk(options);
  return 0;
});
