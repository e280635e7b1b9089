import { addEnvFile } from "./env-file.ts";

interface StartedWorker {
  readonly isWorkerOnly: boolean;
  /** NODE_ENV as the worker's environment sets it. */
  readonly nodeEnv: string | undefined;
  /** The path of `.env`. */
  readonly envFile: string;
}

/**
 * Whether this is an author's own machine, whose terminal may show conversation content: `parley start`, unless the
 * environment or `.env` sets NODE_ENV to `production`.
 */
export async function mayShowContent({ isWorkerOnly, nodeEnv, envFile }: StartedWorker): Promise<boolean> {
  const env: NodeJS.ProcessEnv = { NODE_ENV: nodeEnv };
  await addEnvFile(env, envFile);
  return !isWorkerOnly && env["NODE_ENV"] !== "production";
}
