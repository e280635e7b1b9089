import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { TimedCall } from "../arms/time-calls.ts";
import { startParley } from "../arms/parley.ts";
import { clockMs } from "../clock.ts";
import { openFloors } from "./floors.ts";
import { type Bench, repeat, type Work } from "./work.ts";

/** Measures calls to a client in the session's process. For comparison, each round also measures bare packets. */
export const clientCall: Work = {
  name: "client-call",
  hasArms: false,
  async run(bench: Bench) {
    const { databaseUrl, model, extent, samples, progress } = bench;
    progress("calls to a client");
    await using folder = await tempFolder();
    const callTimer = new URL("../arms/time-calls.ts", import.meta.url).href;
    const env = { NODE_OPTIONS: `--import ${callTimer}`, BENCH_CALLS_FOLDER: folder.path };
    const startedAt: number[] = [];
    {
      await using floors = await openFloors(bench);
      await using arm = await startParley({ databaseUrl, modelUrl: model.url, env });
      await using talk = await arm.join("tool");
      await repeat(extent.warmUp, () => talk.ask("tool"));
      for (let round = 0; round < extent.rounds; round++) {
        await floors.measure(round);
        startedAt.push(clockMs());
        await repeat(extent.questions, () => talk.ask("tool"));
      }
    }
    const files = await readdir(folder.path);
    const texts = await Promise.all(files.map((file) => readFile(join(folder.path, file), "utf8")));
    for (const { sentAt, ms } of texts.flatMap((text) => JSON.parse(text) as TimedCall[])) {
      const round = startedAt.findLastIndex((at) => at <= sentAt);
      if (round >= 0) samples.add("clientCall", "parley", { round, values: [ms] });
    }
  },
};
