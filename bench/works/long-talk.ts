import { setTimeout as sleep } from "node:timers/promises";
import type { Asked } from "../arms/talk.ts";
import { repeat, rotate, type Work } from "./work.ts";

/** The minimum duration of a turn. Parley accepts at most 50 texts per second from a participant. */
const MIN_MS_PER_TURN = 25;

/** Measures the same short question after many turns: the cost of a turn must not grow with the conversation. */
export const longTalk: Work = {
  name: "long-talk",
  hasArms: true,
  async run({ arms, extent, samples, progress }) {
    await using open = new AsyncDisposableStack();
    const talks = [];
    for (const arm of arms) {
      const talk = open.use(await arm.join("plain"));
      progress(`long talk: ${extent.turns} turns with ${arm.name}`);
      await repeat(extent.turns, () => Promise.all([talk.ask("plain"), sleep(MIN_MS_PER_TURN)]));
      talks.push({ arm, talk });
    }
    for (let round = 0; round < extent.rounds; round++) {
      progress(`long talk, round ${round + 1} of ${extent.rounds}`);
      for (const { arm, talk } of rotate(talks, round)) {
        let asked: readonly Asked[] = [];
        const cpuMs = await arm.cpuOf(async () => {
          asked = await repeat(extent.questions, () => talk.ask("plain"));
        });
        const values = asked.map(({ askedAt, wholeAt }) => wholeAt - askedAt);
        samples.add("longAnswer", arm.name, { round, values });
        samples.add("longCpu", arm.name, { round, values: [cpuMs / asked.length] });
      }
    }
  },
};
