import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { reply, text } from "../src/model-server/step.ts";
import { recordTalks, thisRun } from "./report/talks-record.ts";
import { TestAgent } from "../test/support/agent.ts";
import type { Participant } from "../test/support/participant.ts";

const TURNS = Number(process.env["TURNS"] ?? 300);
/**
 * How long to pause after each turn, as if a person were reading the answer. With 0, summaries are written during the
 * next turn.
 */
const PAUSE_MS = Number(process.env["PAUSE_MS"] ?? 100);
const WORDS = "It has been a long day, and there is much to tell of it. ".repeat(4);
const context = { budgetTokens: 2_000, hardTokens: 20_000, instructionBytes: 0 };

/**
 * Runs two conversations side by side, turn by turn. In one, older turns are summarized before they leave the context
 * window.
 */
test("from a message to the first sentence of its answer, with notes and without", async () => {
  const run = thisRun();
  await using withNotes = await startAgent("small");
  await using without = await startAgent();
  const users = [await withNotes.client("user"), await without.client("user")] as const;
  const times: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn++) {
    for (const arm of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      times[arm].push(await firstSentenceMs(users[arm]));
      // Pauses after each turn. Otherwise, one conversation's summaries would be written during the other's turn.
      await sleep(PAUSE_MS);
    }
  }

  const of = (ms: readonly number[]) => ({ p50: percentile(ms, 0.5), p95: percentile(ms, 0.95) });
  const [summarized, plain] = [of(times[0]), of(times[1])];
  const [written] = await withNotes.sql<
    { count: number }[]
  >`select count(*)::int as count from summaries where text is not null`;
  const figures = {
    turns: TURNS,
    pauseMs: PAUSE_MS,
    summaries: written?.count ?? 0,
    withNotes: summarized,
    without: plain,
  };
  console.log(JSON.stringify(figures));
  console.log(`p95 with notes / without: ${(summarized.p95 / plain.p95).toFixed(3)}`);
  await recordTalks({ notes: { ...run, ...figures } });
  expect(figures.summaries).toBeGreaterThan(0);
});

async function startAgent(summaryModel?: string): Promise<TestAgent> {
  const agent = await TestAgent.start({ policy: { context }, ...(summaryModel !== undefined && { summaryModel }) });
  agent.model.script(({ body }, index) =>
    reply([text(body["model"] === "small" ? `<notes>They talked. ${WORDS}</notes>` : `${index}. ${WORDS}`)]),
  );
  return agent;
}

async function firstSentenceMs(user: Participant): Promise<number> {
  const askedAt = performance.now();
  const id = await user.say(`And then? ${WORDS}`);
  const start = await user.next("start_answer", ({ previousId }) => previousId === id);
  await user.next("assistant_sentence", ({ previousId }) => previousId === start.id);
  const ms = performance.now() - askedAt;
  await user.answerTo(id);
  return ms;
}

function percentile(ms: readonly number[], part: number): number {
  const sorted = ms.toSorted((a, b) => a - b);
  return Math.round(100 * (sorted[Math.floor(part * sorted.length)] ?? 0)) / 100;
}
