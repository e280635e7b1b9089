import type { Arm } from "../arms/arm.ts";
import type { Talk } from "../arms/talk.ts";
import { repeat, rotate, type Work } from "./work.ts";

/** All sessions with one agent send a question at the same time. */
export const burst: Work = {
  name: "burst",
  hasArms: true,
  async run({ arms, extent, samples, progress }) {
    await using open = new AsyncDisposableStack();
    const talks = new Map<Arm, Talk[]>();
    // Python's processes for this many sessions would take 7 GB.
    for (const arm of arms.filter(({ name }) => name !== "agents-python")) {
      progress(`burst: ${extent.sessions} sessions with ${arm.name}`);
      const own = await repeat(extent.sessions, async () => open.use(await arm.join("plain")));
      await repeat(3, () => askAll(own));
      talks.set(arm, own);
    }
    for (let round = 0; round < extent.rounds; round++) {
      progress(`burst, round ${round + 1} of ${extent.rounds}`);
      for (const [arm, own] of rotate([...talks], round)) {
        const values = await askAll(own);
        samples.add("burst", arm.name, { round, values });
        samples.add("burstLast", arm.name, { round, values: [Math.max(...values)] });
      }
    }
  },
};

async function askAll(talks: readonly Talk[]): Promise<number[]> {
  const asked = await Promise.all(talks.map((talk) => talk.ask("plain")));
  return asked.map(({ askedAt, wholeAt }) => wholeAt - askedAt);
}
