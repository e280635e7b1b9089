import { expect, test } from "vitest";
import type { Usage } from "../../../src/llm/model-event.ts";
import { createSpendingStore } from "../../../src/session/spending/spending-store.ts";
import { Spending } from "../../../src/session/spending/spending.ts";
import type { ChatCall, OpenStream } from "../../../src/session/model/open-stream.ts";
import { PreemptiveGeneration } from "../../../src/session/model/preemptive-generation.ts";
import { abortable } from "../../../src/lib/abortable.ts";
import { loadSpent } from "../../../src/store/spending/spending.ts";
import { storedSession } from "../../store/store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
const BUDGET = 1_000;
const STEP: Usage = { inputTokens: 580, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 };

const requestFor = (words: string): Parameters<OpenStream>[0] => ({
  history: [{ role: "user", blocks: [{ blockType: "text", textContent: words, content: null }] }],
  isCompacted: false,
  toolChoice: "auto",
  tools: [],
  onRefusedTool: () => {},
  participant: "ann",
});

/** A session with a budget. Its model starts to answer every text, but finishes only answers to complete sentences. */
async function startSession() {
  const { sql } = database;
  const { sessionId } = (await storedSession(sql)).lease;
  const [worker, requests]: [string, string[]] = ["host", []];
  const openStream: OpenStream = ({ history, observe }, signal) => {
    const words = history[0]?.blocks[0]?.textContent ?? "";
    async function* answer() {
      signal.throwIfAborted();
      requests.push(words);
      yield { type: "message_start" as const, id: "msg", model: "m", usage: { ...STEP, outputTokens: 1 } };
      if (!words.endsWith(".")) await abortable(new Promise(() => {}), signal);
      yield { type: "message_stop" as const, stopReason: "end_turn", stopDetails: null, usage: STEP };
    }
    return observe?.({} as ChatCall, answer()) ?? answer();
  };
  const options = {
    store: createSpendingStore(sql),
    sessionId,
    worker,
    budget: { session: { tokens: BUDGET } },
    prices: {},
  };
  const nothing = { onLost: () => {}, onSpent: () => {}, onBudget: () => {} };
  const limited = new Spending({ ...options, ...nothing }).limited(openStream, () => "m");
  const spent = async () => (await loadSpent(sql, { sessionId, identity: "ann", worker })).session.tokens;
  return { limited, spent, requests, speculations: new PreemptiveGeneration(() => {}) };
}

/**
 * Requests an answer as a turn does, which uses a preemptive generation if that was started with the same request.
 * Returns the stop reason.
 */
async function turnsAnswer({ limited, speculations }: Awaited<ReturnType<typeof startSession>>, words: string) {
  const { signal } = new AbortController();
  speculations.beginTurn();
  const stream = speculations.take(requestFor(words))?.stream(signal) ?? limited(requestFor(words), signal);
  for await (const event of stream) if (event.type === "message_stop") return event.stopReason;
  return undefined;
}

test("preemptive calls that are not used count, and the budget is exceeded by one step at most", async () => {
  const session = await startSession();
  const { limited: openStream, speculations, spent, requests } = session;
  speculations.begin(requestFor("I"), { openStream });
  await expect.poll(spent).toBe(581);
  speculations.begin(requestFor("I would"), { openStream });
  await expect.poll(spent).toBe(2 * 581);

  expect(await turnsAnswer(session, "I would like tea.")).toBe("budget");
  speculations.begin(requestFor("Please."), { openStream });
  expect(await turnsAnswer(session, "Please.")).toBe("budget");

  expect(requests).toEqual(["I", "I would"]);
  expect(await spent()).toBeLessThan(BUDGET + STEP.inputTokens + STEP.outputTokens);
});

test("a preemptive call that is used counts once", async () => {
  const session = await startSession();
  const { limited: openStream, speculations, spent, requests } = session;
  speculations.begin(requestFor("Tea."), { openStream });
  await expect.poll(spent).toBe(600);

  expect(await turnsAnswer(session, "Tea.")).toBe("end_turn");

  expect(requests).toEqual(["Tea."]);
  expect(await spent()).toBe(600);
});
