import { setTimeout as sleep } from "node:timers/promises";
import type { FigureName } from "../report/figures.ts";
import { rotate, type Work } from "./work.ts";

const LENGTHS = [
  { question: "long", deltas: 3_000, figure: "words3k" },
  { question: "long", deltas: 12_000, figure: "words12k" },
  { question: "input", deltas: 3_000, figure: "input3k" },
  { question: "input", deltas: 12_000, figure: "input12k" },
] as const satisfies readonly { readonly figure: FigureName; readonly [key: string]: unknown }[];
const ROUNDS = 3;
/** A pause, so that work after an answer is counted with that answer. */
const REST_MS = 1_000;

/** Long answers and long tool inputs: a delta of a long one must cost what one of a short one does. */
export const longAnswers: Work = {
  name: "long-answers",
  hasArms: true,
  async run({ arms, samples, progress }) {
    for (let round = 0; round < ROUNDS; round++)
      for (const arm of rotate(arms, round)) {
        progress(`long answers, round ${round + 1} of ${ROUNDS}, ${arm.name}`);
        // A new talk each time: the history is not what is measured.
        await using talk = await arm.join("tool");
        await talk.ask("plain");
        for (const { question, deltas, figure } of LENGTHS) {
          // Not for others: an RPC takes so long an input only if both ends speak its second version.
          if (question === "input" && arm.name !== "parley") continue;
          const cpuMs = await arm.cpuOf(async () => {
            await talk.ask(question, deltas);
            await sleep(REST_MS);
          });
          samples.add(figure, arm.name, { round, values: [(cpuMs * 1_000) / deltas] });
        }
      }
  },
};
