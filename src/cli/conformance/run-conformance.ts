import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { checkClient } from "../../conformance/client/check-client.ts";
import { toHtml } from "../../conformance/report/to-html.ts";
import { toTable } from "../../conformance/report/to-table.ts";
import { parseExpected, summarize } from "../../conformance/run/expected.ts";
import type { Verdict } from "../../conformance/run/run-suites.ts";
import type { LivekitServer } from "../../conformance/wire/room-end.ts";
import { checkWorker } from "../../conformance/worker/check-worker.ts";
import { programEnvironment } from "../../tool/program-environment.ts";
import { findLivekitPort } from "../../worker/process/ports.ts";
import { startLivekitServer } from "../../worker/services/livekit-server.ts";
import { UsageError } from "../../worker/settings/command-line.ts";
import { addEnvFile } from "../../worker/settings/env-file.ts";
import { readSecretFiles } from "../../worker/settings/secret-files.ts";
import { runUnprepared } from "../run-unprepared.ts";
import { fetchToken } from "../talk/fetch-token.ts";
import { type ConformanceOptions, parseConformanceOptions, USAGE } from "./options.ts";

/**
 * Environment variables that the client's program receives because runtimes use them to find packages. To set any other
 * variable, start the client's command with `env NAME=value …`.
 */
const CLIENT_SETTINGS = [
  "NODE_ENV NODE_PATH NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS VIRTUAL_ENV PYTHONPATH GOPATH GOROOT GOFLAGS GOCACHE GOMODCACHE",
  "CARGO_HOME RUSTUP_HOME JAVA_HOME DOTNET_ROOT GEM_HOME XDG_CACHE_HOME",
].flatMap((names) => names.split(" "));

/**
 * Variables whose value may be in a file. Not imported from the worker's table of variables, because that import would
 * add the worker to this package.
 */
const SECRETS = ["LIVEKIT_URL", "LIVEKIT_API_SECRET", "TOKEN_SECRET"];

/** Runs `parley-conformance`: checks a client or a worker, prints the verdicts, and exits the process. */
export async function runConformance(args: readonly string[]): Promise<void> {
  await runUnprepared("parley-conformance", USAGE, async () => {
    const options = parseConformanceOptions(args);
    if (!options) return undefined;
    await addEnvFile(process.env, ".env");
    await readSecretFiles(process.env, process.cwd(), SECRETS);
    const expected = options.expected === undefined ? [] : parseExpected(await readFile(options.expected, "utf8"));
    const summary = summarize(await check(options), expected);
    process.stdout.write(`${toTable(summary)}\n`);
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(summary, null, 2)}\n`);
    if (options.html !== undefined) await writeFile(options.html, toHtml(summary, `Conformance of a ${options.role}`));
    return summary.status;
  });
}

async function check(options: ConformanceOptions): Promise<Verdict[]> {
  if (options.role === "worker") {
    const { url: httpUrl } = options;
    const tokenSecret = process.env["TOKEN_SECRET"] || undefined;
    return checkWorker((room, identity) => fetchToken({ httpUrl, room, identity, tokenSecret }));
  }
  await using livekit = await provideLivekit(process.env);
  return await checkClient({ livekit, command: options.command, environment: programEnvironment(...CLIENT_SETTINGS) });
}

/**
 * Returns the LiveKit server set in the environment. If none is set, starts a livekit-server that stops when disposed.
 */
async function provideLivekit(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LivekitServer & AsyncDisposable> {
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = environment;
  if (url) {
    if (!apiKey || !apiSecret)
      throw new UsageError("LIVEKIT_URL is set: set LIVEKIT_API_KEY and LIVEKIT_API_SECRET, too");
    return { url, apiKey, apiSecret, [Symbol.asyncDispose]: async () => {} };
  }
  const dataDir = await mkdtemp(join(tmpdir(), "parley-conformance-"));
  const cacheDir = resolve(environment["PARLEY_CACHE_DIR"] || ".cache");
  const progress = (line: string) => console.error(`conformance: ${line}`);
  const server = await startLivekitServer({ dataDir, cacheDir, port: await findLivekitPort(), progress });
  return {
    ...server,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
