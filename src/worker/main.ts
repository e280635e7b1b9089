import { givenNodeEnv } from "../livekit/stdout-guard.ts";
import { writeSync } from "node:fs";
import { resolve } from "node:path";
import { AppError } from "../errors/app-error.ts";
import { Cleanup } from "../lib/cleanup.ts";
import { hideSecrets } from "../lib/checks/hide-secrets.ts";
import { checkVariables } from "./settings/check-env-file.ts";
import { parseMainOptions, mainUsage } from "./main-options.ts";
import { UsageError, VersionRequest } from "./settings/command-line.ts";
import { loadConfig } from "./settings/load-config.ts";
import { mayShowContent } from "./settings/may-show-content.ts";
import { DEVELOPMENT } from "./config.ts";
import { createLogger, type Logger } from "./logger.ts";
import { migrateOnly } from "./migrate-only.ts";
import { endChildren } from "./process/end-process.ts";
import { listChildren } from "./process/running-processes.ts";
import { OWN_VERSION } from "./own-package.ts";
import { watchParent } from "./process/watch-parent.ts";
import { readyLine } from "./ready-line.ts";
import { addDefaultSpeech } from "./settings/default-speech.ts";
import { startWorker } from "./start.ts";
import { openMetricsHub } from "./telemetry/metrics-hub.ts";
import { reportLosses } from "./telemetry/report-losses.ts";
import { startTelemetry } from "./telemetry/start-telemetry.ts";
import { openLogOutput } from "./terminal/log-output.ts";

/** How long after a signal a second one counts as the same Ctrl-C: the terminal sends a signal, and npm forwards it. */
const SAME_SIGNAL_MS = 1_000;
const MAX_ROUNDS = 10;
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const { isWorkerOnly, isMigration, hasScripted, hasReadyLine } = readOptions();
const cleanup = new Cleanup();
const progress = (line: string) => writeSync(2, `parley: ${hideSecrets(line)}\n`);
let stopping: { readonly since: number } | undefined;
let logger: Logger | undefined;
/** `DRAIN_SECONDS` in milliseconds. */
let drainMs = 0;
/**
 * How long handovers may take: `drainMs` after SIGTERM, which a deployment sends, and 0 after Ctrl-C, which ends
 * sessions at once.
 */
let handOverMs = 0;

for (const signal of STOP_SIGNALS) {
  process.on(signal, () => {
    if (stopping === undefined) {
      if (signal === "SIGTERM") handOverMs = drainMs;
      progress("stopping (send the signal again to stop immediately)");
      // A migration that is stopped has failed.
      void stop(isMigration ? 1 : 0);
    } else if (performance.now() - stopping.since > SAME_SIGNAL_MS) {
      progress("stopping immediately");
      void endChildren({ graceMs: 200 }).finally(() => process.exit(1));
    }
  });
}
process.on("uncaughtException", (error) => fail(error));
watchParent(() => {
  if (stopping) return;
  handOverMs = drainMs;
  progress("stopping: npm, its parent process, has exited");
  void stop(isMigration ? 1 : 0);
});

/**
 * Parses the command line. For `--help`, `--version` or an invalid command line, exits the process before anything is
 * started.
 */
function readOptions() {
  const args = process.argv.slice(2);
  const usage = mainUsage(args.includes("--worker-only") ? "worker" : "start");
  try {
    const options = parseMainOptions(args);
    if (options) return options;
    writeSync(1, `${usage}\n`);
    process.exit(0);
  } catch (error) {
    if (error instanceof VersionRequest) {
      writeSync(1, `${OWN_VERSION}\n`);
      process.exit(0);
    }
    if (!(error instanceof UsageError)) throw error;
    writeSync(2, `parley: ${error.message}\n\n${usage}\n`);
    process.exit(2);
  }
}

/** Closes everything in reverse order, including services that are still starting, and exits. */
async function stop(exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = { since: performance.now() };
  try {
    await cleanup.disposeAsync();
  } catch (error) {
    logger?.error({ error }, "shutdown failed");
  }
  // A start in progress continues meanwhile and may start more processes.
  for (let round = 0; round < MAX_ROUNDS && listChildren().length > 0; round++) await endChildren({ graceMs: 1_500 });
  process.exit(exitCode);
}

function fail(error: unknown): void {
  if (stopping) return;
  // An AppError was thrown on purpose, so its message is enough. Any other error is a bug and is shown with its stack.
  const isPlain = error instanceof AppError;
  progress(isPlain ? error.message : `failed: ${error instanceof Error ? error.stack : String(error)}`);
  void stop(1);
}

async function main(): Promise<void> {
  process.env[DEVELOPMENT] = (await mayShowContent({ isWorkerOnly, nodeEnv: givenNodeEnv, envFile: resolve(".env") }))
    ? "1"
    : "";
  if (!isMigration) {
    const { voice: plugins } = await loadConfig(process.env, process.cwd());
    await addDefaultSpeech(process.env, { cwd: process.cwd(), plugins, progress });
  }
  const config = await loadConfig(process.env, process.cwd());
  if (isMigration) {
    const stopped = new AbortController();
    cleanup.defer(() => stopped.abort());
    await migrateOnly({ config, progress, signal: stopped.signal });
    return stop(0);
  }
  drainMs = config.drainSeconds * 1_000;
  const hub = await openMetricsHub();
  cleanup.defer(hub.close);
  const { otel, telemetry: settings } = config;
  const { logStream, telemetry, close } = startTelemetry({ otel, settings, hubUrl: hub.url });
  cleanup.defer(close);
  logger = createLogger(config, { output: openLogOutput(config), also: logStream });
  reportLosses(logger);
  for (const problem of await checkVariables(".env", process.env))
    logger.warn({ problem }, "environment variable looks misspelled");
  const onLost = (name: string) => fail(new AppError("unavailable", `${name} exited unexpectedly`));
  const ready = await startWorker({
    config,
    isWorkerOnly,
    hasScripted,
    logger,
    hub,
    telemetry,
    progress,
    cleanup,
    onLost,
    handOverMs: () => handOverMs,
  });
  progress(readyLine(ready, config));
  if (hasReadyLine) writeSync(1, `${JSON.stringify({ event: "ready", ...ready })}\n`);
}

main().catch(fail);
