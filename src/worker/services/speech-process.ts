import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { siblingModuleUrl } from "../../lib/sibling-module-url.ts";
import type { SpeechUse } from "../../speech/start-model.ts";
import { programEnvironment } from "../../tool/program-environment.ts";
import type { Service } from "./service.ts";

const ENTRY = fileURLToPath(siblingModuleUrl(import.meta.url, "../../speech/speech-process"));
/** The pause before the first restart. It quadruples with each restart, up to `RESTART_AFTER_AT_MOST_MS`. */
const RESTART_AFTER_MS = 100;
const RESTART_AFTER_AT_MOST_MS = 10_000;
/** If a process has run for this long, the pause before its restart is `RESTART_AFTER_MS` again. */
const STABLE_AFTER_MS = 60_000;
/** How long the start of the worker waits for the models. */
const LOADED_WITHIN_MS = 5_000;

interface SpeechProcessOptions {
  /** The folder of the models' files. */
  readonly folder: string;
  readonly uses: readonly SpeechUse[];
  readonly logger: Logger;
}

/** Runs the embedded speech models for all sessions of this worker, in one process. Restarts it whenever it exits. */
export class SpeechProcess implements Service {
  readonly #options: SpeechProcessOptions;
  /** Only this user may enter it. */
  readonly #socketFolder: string;
  /** Resolves when the models are loaded, or the first process has exited. */
  readonly #settled = Promise.withResolvers<void>();
  #child: ChildProcess;
  #restart: NodeJS.Timeout | undefined;
  #restartAfterMs = RESTART_AFTER_MS;
  #isClosed = false;

  private constructor(options: SpeechProcessOptions, socketFolder: string) {
    this.#options = options;
    this.#socketFolder = socketFolder;
    this.#child = this.#launch();
  }

  /**
   * Resolves once the models are loaded, but after 5 s at most, so that they do not hold up the worker. After that,
   * `RemoteModel` waits for them. The caller closes the result.
   */
  static async start(options: SpeechProcessOptions): Promise<SpeechProcess> {
    const started = new SpeechProcess(options, await mkdtemp(join(tmpdir(), "parley-speech-")));
    await Promise.race([started.#settled.promise, sleep(LOADED_WITHIN_MS, undefined, { ref: false })]);
    return started;
  }

  /** The Unix socket on which `RemoteModel` reaches the process. It stays the same over restarts. */
  get socket(): string {
    return join(this.#socketFolder, "socket");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    // It stores nothing, so it may be killed at any time.
    if (this.#child.kill("SIGKILL")) await once(this.#child, "exit");
    await rm(this.#socketFolder, { recursive: true, force: true });
  }

  #launch(): ChildProcess {
    const { folder, uses, logger } = this.#options;
    const startedAt = performance.now();
    const child = fork(ENTRY, [this.socket, folder, ...uses], {
      execArgv: [],
      env: programEnvironment("NODE_COMPILE_CACHE"),
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.once("message", () => {
      this.#settled.resolve();
      logger.info({ uses, durationMs: Math.round(performance.now() - startedAt) }, "speech models loaded");
    });
    child.once("exit", (code, signal) => {
      this.#settled.resolve();
      if (this.#isClosed) return;
      logger.error({ code, signal }, "speech process exited, restarting");
      if (performance.now() - startedAt > STABLE_AFTER_MS) this.#restartAfterMs = RESTART_AFTER_MS;
      this.#restart = setTimeout(() => (this.#child = this.#launch()), this.#restartAfterMs);
      this.#restartAfterMs = Math.min(4 * this.#restartAfterMs, RESTART_AFTER_AT_MOST_MS);
    });
    return child;
  }
}
