import type { Logger } from "../logger.ts";
import { BusyShare } from "./busy-share.ts";
import { Unresponsiveness } from "./unresponsiveness.ts";

/** How often a host process is pinged, to detect a blocked main thread. */
const PING_MS = 250;
/**
 * How long a host process may leave pings unanswered. After that, it counts as stalled if it also exceeds one of the
 * next two limits.
 */
const STALL_MS = 1_000;
/**
 * How much CPU time the host process may have used since its last answer. If it has used less, it may only be waiting
 * for a core on a busy machine.
 */
const STALL_COMPUTED_MS = 800;
/**
 * How long the host process's main thread may have slept while a tool was running. A longer sleep points to a blocking
 * call, such as `execSync`.
 */
const STALL_ASLEEP_MS = 1_500;
/**
 * How long a host process may leave pings unanswered before it is killed in any case. It was suspended, or is waiting
 * for its disk.
 */
const SILENT_MS = 10_000;

interface HostHealthOptions {
  /** Process id of the host process. */
  readonly pid: number;
  readonly memoryLimitBytes: number;
  /** Sends a ping. Pass the answer to `pong`. */
  readonly ping: () => void;
  /** Whether a server tool is running in the host process. */
  readonly isToolRunning: () => boolean;
  /** Called once, when the host process has stalled or exceeds its memory limit. */
  readonly onUnhealthy: () => void;
  readonly logger: Pick<Logger, "error">;
}

/** Monitors whether a host process answers, how busy it is, and how much memory it uses, until `close`. */
export class HostHealth {
  /** The memory that the host process last reported. */
  rssBytes = 0;
  readonly #options: HostHealthOptions;
  readonly #unresponsiveness: Unresponsiveness;
  readonly #busy: BusyShare;
  readonly #checks: NodeJS.Timeout;
  #checkedAt = 0;

  constructor(options: HostHealthOptions) {
    this.#options = options;
    this.#unresponsiveness = new Unresponsiveness(options.pid);
    this.#busy = new BusyShare(options.pid);
    this.#checks = setInterval(() => this.#check(), PING_MS);
  }

  /** See `BusyShare`. */
  get busyShare(): number {
    return this.#busy.share;
  }

  /** Call this when the host process has answered a ping. */
  pong(rssBytes: number): void {
    this.#unresponsiveness.reset();
    this.rssBytes = rssBytes;
  }

  close(): void {
    clearInterval(this.#checks);
  }

  #check(): void {
    const { memoryLimitBytes, ping, logger } = this.#options;
    const now = performance.now();
    // The worker itself was suspended: answers may have arrived that it has not read yet.
    if (now - this.#checkedAt > 2 * PING_MS) this.#unresponsiveness.restart();
    this.#checkedAt = now;
    this.#busy.sample();
    const { ms: silentMs, computedMs, asleepMs } = this.#unresponsiveness;
    const isToolAsleep = asleepMs > STALL_ASLEEP_MS && this.#options.isToolRunning();
    const isStalled = silentMs > STALL_MS && (computedMs > STALL_COMPUTED_MS || isToolAsleep);
    if (this.rssBytes > memoryLimitBytes) {
      logger.error({ rssBytes: this.rssBytes, memoryLimitBytes }, "host process over memory limit, killed");
      this.#end();
    } else if (silentMs > SILENT_MS || isStalled) {
      logger.error({ silentMs: Math.round(silentMs), computedMs, asleepMs }, "host process unresponsive, killed");
      this.#end();
    } else ping();
  }

  #end(): void {
    this.close();
    this.#options.onUnhealthy();
  }
}
