import { setTimeout as sleep } from "node:timers/promises";
import { repeat, rotate, type Work } from "./work.ts";

const JOINS_PER_ROUND = 3;
/** How long to pause between two joins. In this time, other agents start the process of their next session. */
const REST_MS = 1_500;

/** Measures the time from joining a new room until an agent listens. */
export const joins: Work = {
  name: "joins",
  hasArms: true,
  async run({ arms, extent, samples, progress }) {
    for (let round = -1; round < extent.rounds; round++) {
      progress(`joins, round ${round + 1} of ${extent.rounds}`);
      for (const arm of rotate(arms, round + 1)) {
        const values = await repeat(JOINS_PER_ROUND, async () => {
          await sleep(REST_MS);
          await using talk = await arm.join("plain");
          return talk.joinMs;
        });
        // The first round is a warm-up.
        if (round >= 0) samples.add("join", arm.name, { round, values });
      }
    }
  },
};
