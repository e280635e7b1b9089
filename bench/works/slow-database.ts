import { setTimeout as sleep } from "node:timers/promises";
import { TcpProxy } from "../../test/support/servers/tcp-proxy.ts";
import { startParley } from "../arms/parley.ts";
import type { Talk } from "../arms/talk.ts";
import { type Bench, repeat, type Work } from "./work.ts";

const DELAY_MS = 100;
/**
 * How long to pause before a question, as between people's turns. In this time, the rest of the previous turn is
 * stored.
 */
const PAUSE_MS = 1_000;
const QUESTIONS = 8;

/** Measures the same questions with a database that responds immediately, and with one that delays every response. */
export const slowDatabase: Work = {
  name: "slow-database",
  hasArms: false,
  async run({ databaseUrl, model, extent, samples, progress }: Bench) {
    await using proxy = await TcpProxy.start(databaseUrl);
    await using arm = await startParley({ databaseUrl: proxy.url, modelUrl: model.url });
    await using talk = await arm.join("tool");
    await repeat(extent.warmUp, () => talk.ask("tool"));
    for (let round = 0; round < extent.rounds; round++) {
      progress(`slow database, round ${round + 1} of ${extent.rounds}`);
      for (const isSlow of [false, true]) {
        proxy.delayMs = isSlow ? DELAY_MS : 0;
        await sleep(PAUSE_MS);
        const { words, answers } = await ask(talk);
        samples.add(isSlow ? "slowWord" : "quickWord", "parley", { round, values: words });
        samples.add(isSlow ? "slowToolAnswer" : "quickToolAnswer", "parley", { round, values: answers });
      }
      proxy.delayMs = 0;
    }
  },
};

async function ask(talk: Talk) {
  const [words, answers]: [number[], number[]] = [[], []];
  for (let question = 0; question < QUESTIONS; question++) {
    const plain = await talk.ask("plain");
    words.push(plain.firstWordAt - plain.askedAt);
    await sleep(PAUSE_MS);
    const tool = await talk.ask("tool");
    answers.push(tool.wholeAt - tool.askedAt);
    await sleep(PAUSE_MS);
  }
  return { words, answers };
}
