import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const TELLER = join(import.meta.dirname, "../../fixtures/soak/tell-heap.ts");
const ANSWER_WITHIN_MS = 20_000;

/** What processes of a worker that was started with these `NODE_OPTIONS` hold in memory once their garbage is gone. */
export class LiveHeap {
  readonly nodeOptions: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    const teller = pathToFileURL(TELLER);
    teller.searchParams.set("folder", folder);
    this.nodeOptions = `--import ${teller.href}`;
  }

  /** In MB, of JavaScript's heap and what hangs on it; `undefined` for a process that has hardly begun. */
  async of(pid: number): Promise<number | undefined> {
    const file = join(this.#folder, `heap-${pid}`);
    if (!existsSync(file)) return undefined;
    rmSync(file);
    process.kill(pid, "SIGUSR2");
    const giveUpAt = performance.now() + ANSWER_WITHIN_MS;
    while (!existsSync(file)) {
      if (performance.now() > giveUpAt) throw new Error(`Process ${pid} does not say what it holds`);
      await sleep(10);
    }
    return Number(readFileSync(file, "utf8")) / 1_024 / 1_024;
  }
}
