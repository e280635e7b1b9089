import { readSecretFiles } from "../worker/settings/secret-files.ts";
import { addEnvFile } from "../worker/settings/env-file.ts";
import { runUnprepared } from "./run-unprepared.ts";

/** Like `runUnprepared`, with the worker's settings (.env and secret files) added to the environment. */
export async function runCommandLine(name: string, usage: string, run: () => Promise<number | undefined>) {
  await runUnprepared(name, usage, async () => {
    await readEnvironment();
    return run();
  });
}

/** Adds the settings to `process.env`. Variables that are already set keep their values. */
async function readEnvironment(): Promise<void> {
  const { env } = process;
  await addEnvFile(env, ".env");
  // Import the table of variables only if it is needed, because it takes a second to load.
  if (!Object.keys(env).some((name) => name.endsWith("_FILE"))) return;
  const { SECRET_NAMES } = await import("../worker/settings/environment.ts");
  await readSecretFiles(env, process.cwd(), SECRET_NAMES);
}
