import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../src/lib/json.ts";
import { startOwnLivekit } from "../../test/support/servers/own-livekit.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { runMain, settingsFor } from "../../test/worker/support/run-main.ts";
import { Arm } from "./arm.ts";
import { endTree } from "./processes.ts";

/**
 * The instructions, which are the same for all agents. Each agent has one tool, which runs on the participant's device.
 */
const INSTRUCTIONS = "You are a helpful assistant. Answer in short sentences.";

interface ParleyParts {
  readonly databaseUrl: string;
  readonly modelUrl: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Additional fields of parley.config.ts. */
  readonly config?: JsonObject;
}

/** Starts a worker like `npm run worker`, with the record and metrics, but without exporting telemetry. */
export async function startParley({ databaseUrl, modelUrl, env = {}, config: more }: ParleyParts): Promise<Arm> {
  await using starting = new AsyncDisposableStack();
  const { path: folder } = starting.use(await tempFolder());
  const livekit = await startOwnLivekit();
  starting.defer(() => livekit.close());
  const toolsFolder = join(folder, "tools");
  await mkdir(toolsFolder);
  const config = join(folder, "parley.config.ts");
  await writeFile(config, `export default ${JSON.stringify({ instructions: INSTRUCTIONS, toolsFolder, ...more })};\n`);
  const settings = await settingsFor({ livekit, databaseUrl, modelUrl: `${modelUrl}/parley`, folder });
  const main = runMain({ ...settings, PARLEY_CONFIG: config, MAX_SESSIONS: "100", ...env }, "--worker-only");
  starting.defer(() => endTree(main.pid));
  await main.ready;
  return new Arm({ name: "parley", pid: main.pid, livekit, toolWay: "parley", cleanup: starting.move() });
}
