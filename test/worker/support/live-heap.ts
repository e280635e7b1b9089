import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const REPORTER = join(import.meta.dirname, "../../fixtures/soak/report-heap.ts");
const ANSWER_WITHIN_MS = 20_000;

/**
 * Measures how much memory a worker's processes use after garbage collection. The worker must run with `nodeOptions` in
 * its NODE_OPTIONS.
 */
export class LiveHeap {
  readonly nodeOptions: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    const reporter = pathToFileURL(REPORTER);
    reporter.searchParams.set("folder", folder);
    this.nodeOptions = `--import ${reporter.href}`;
  }

  /** MB in the JavaScript heap and in external memory. `undefined` for a process that has only just started. */
  async of(pid: number): Promise<number | undefined> {
    const file = join(this.#folder, `heap-${pid}`);
    if (!existsSync(file)) return undefined;
    rmSync(file);
    process.kill(pid, "SIGUSR2");
    const giveUpAt = performance.now() + ANSWER_WITHIN_MS;
    while (!existsSync(file)) {
      if (performance.now() > giveUpAt) throw new Error(`Process ${pid} did not report its heap size`);
      await sleep(10);
    }
    return Number(readFileSync(file, "utf8")) / 1_024 / 1_024;
  }
}
