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
/** How long to wait after an answer, so that work that follows the answer is still counted for it. */
const REST_MS = 1_000;

/** Measures long answers and long tool inputs. Each delta must cost the same as in a short answer. */
export const longAnswers: Work = {
  name: "long-answers",
  hasArms: true,
  async run({ arms, samples, progress }) {
    for (let round = 0; round < ROUNDS; round++)
      for (const arm of rotate(arms, round)) {
        progress(`long answers, round ${round + 1} of ${ROUNDS}, ${arm.name}`);
        // A new session each time, so that the history is not measured.
        await using talk = await arm.join("tool");
        await talk.ask("plain");
        for (const { question, deltas, figure } of LENGTHS) {
          // Skipped for other agents: an RPC accepts such a long input only if both sides support version 2.
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
