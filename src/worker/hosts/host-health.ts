import type { Logger } from "../logger.ts";
import { BusyShare } from "./busy-share.ts";
import { Silence } from "./silence.ts";

/** How often a host is pinged, to see that its thread is not blocked. */
const PING_MS = 250;
/** A host that has not answered for this long has stalled, if one of the next two conditions holds. */
const STALL_MS = 1_000;
/** It has computed this much meanwhile: on a busy machine a host may only be waiting for a core. */
const STALL_COMPUTED_MS = 800;
/** Its thread has slept this long while a tool runs in it: in a call that blocks, such as `execSync`. */
const STALL_ASLEEP_MS = 1_500;
/** A host that has not answered for this long is ended in any case: it was stopped, or waits for its disk. */
const SILENT_MS = 10_000;

interface HostHealthOptions {
  /** Of the host's process. */
  readonly pid: number;
  readonly memoryLimitBytes: number;
  /** Asks the host for an answer, which `pong` takes. */
  readonly ping: () => void;
  /** Whether a server tool runs in it. */
  readonly isToolRunning: () => boolean;
  /** Called once, when the host stalls or has grown past its limit. */
  readonly onSick: () => void;
  readonly logger: Pick<Logger, "error">;
}

/** Watches whether a host answers, and how much it computes and takes, until `close`. */
export class HostHealth {
  /** Its memory by its last answer. */
  rssBytes = 0;
  readonly #options: HostHealthOptions;
  readonly #silence: Silence;
  readonly #busy: BusyShare;
  readonly #looks: NodeJS.Timeout;
  #lookedAt = 0;

  constructor(options: HostHealthOptions) {
    this.#options = options;
    this.#silence = new Silence(options.pid);
    this.#busy = new BusyShare(options.pid);
    this.#looks = setInterval(() => this.#look(), PING_MS);
  }

  /** See BusyShare. */
  get busyShare(): number {
    return this.#busy.share;
  }

  /** The host has answered. */
  pong(rssBytes: number): void {
    this.#silence.end();
    this.rssBytes = rssBytes;
  }

  close(): void {
    clearInterval(this.#looks);
  }

  #look(): void {
    const { memoryLimitBytes, ping, logger } = this.#options;
    const now = performance.now();
    // This process itself stood still: the host's answers are here, but were not read yet.
    if (now - this.#lookedAt > 2 * PING_MS) this.#silence.forgive();
    this.#lookedAt = now;
    this.#busy.sample();
    const { ms: silentMs, computedMs, asleepMs } = this.#silence;
    const isToolAsleep = asleepMs > STALL_ASLEEP_MS && this.#options.isToolRunning();
    const isStalled = silentMs > STALL_MS && (computedMs > STALL_COMPUTED_MS || isToolAsleep);
    if (this.rssBytes > memoryLimitBytes) {
      logger.error({ rssBytes: this.rssBytes, memoryLimitBytes }, "a session host has grown past its limit: ended");
      this.#end();
    } else if (silentMs > SILENT_MS || isStalled) {
      logger.error({ silentMs: Math.round(silentMs), computedMs, asleepMs }, "a session host stalls: ended");
      this.#end();
    } else ping();
  }

  #end(): void {
    this.close();
    this.#options.onSick();
  }
}
