import { pino } from "pino";
import { expect, test } from "vitest";
import { toolResultBlock } from "../../../src/conversation/block.ts";
import { textBlock } from "../../../src/conversation/history.ts";
import type { Summary } from "../../../src/conversation/summary.ts";
import type { TurnRecord } from "../../../src/conversation/turn-record.ts";
import { type ModelEvent, NO_USAGE } from "../../../src/llm/model-event.ts";
import { Summarizer } from "../../../src/session/context/summarizer.ts";
import { ContextWindow } from "../../../src/turn/context-window.ts";
import { placed, turn } from "../../conversation/arbitrary-turns.ts";

const LIMITS = { budgetTokens: 3_000, hardTokens: 20_000 };
const SUMMARIES = 3;
/** The API in this test counts one token for every four bytes. */
const BYTES_PER_TOKEN = 4;

/** Facts on record: ten people with their languages, and five promised outcomes. */
const PEOPLE = Array.from({ length: 10 }, (_, index) => ({ identity: `person-${index}`, language: `l${index}` }));
const PROMISES = Array.from({ length: 5 }, (_, index) => `toolu_promise_${index}`);
/** Fifteen facts that are not on record, but only said. */
const SAID = Array.from(
  { length: 15 },
  (_, index) => `Fact ${index + 1}: box ${index + 1} has the number ${index * 97}.`,
);

/** The first fifteen turns contain thirty facts. Later turns contain none. */
function talkTurn(position: number): TurnRecord {
  const { identity = "person-0" } = PEOPLE[(position - 1) % PEOPLE.length] ?? {};
  const said = SAID[position - 1] ?? `Well, well, and so on and so forth, says turn ${position}. `.repeat(4);
  const promise = PROMISES[position - 1];
  const receipt = "Started in the background (call c1). Its result will be reported when it arrives.";
  const use = { tool_use_id: promise ?? "", tool_name: "bake", input: {} };
  const blocks = [
    ...(promise === undefined
      ? []
      : [
          { blockType: "tool_use", textContent: null, content: use },
          toolResultBlock(promise, { content: receipt, isError: false }),
        ]),
    textBlock("I see."),
  ];
  return {
    ...turn(position, "completed", { input: [{ type: "text", text: said }], blocks: placed(blocks) }),
    participantIdentity: identity,
  };
}

function* notesEvents(text: string): Generator<ModelEvent> {
  yield { type: "block_start", index: 0, blockType: "text" };
  yield { type: "block_delta", index: 0, delta: { type: "text", text: `<notes>${text}</notes>` } };
  yield { type: "message_stop", stopReason: "end_turn", stopDetails: null, usage: NO_USAGE };
}

/**
 * Adds turns until there are enough summaries. Returns the text that then precedes the conversation in a request to the
 * model.
 */
async function prefaceAfter(write: (prompt: string) => string): Promise<string> {
  const summaries: Summary[] = [];
  const shown = new ContextWindow({ turns: [], context: undefined }, LIMITS, {
    languageOf: (identity) => PEOPLE.find((person) => person.identity === identity)?.language,
    onDropped: (summary) => summaries.push(summary),
  });
  const ask = async function* (prompt: string) {
    yield* notesEvents(write(prompt));
  };
  const logger = pino({ level: "silent" });
  const { budgetTokens } = LIMITS;
  const archive = { turnsBetween: async () => [] };
  const summarizer = new Summarizer({ model: { name: "scripted", ask }, archive, budgetTokens, logger });
  for (let position = 1; ; position++) {
    const { latest: written } = summarizer;
    shown.makeRoom({ written, isWriting: summarizer.isAble });
    const past = talkTurn(position);
    const running = { ...past, state: "running" as const };
    const overheadFor = () => ({ key: "", bytes: 0 });
    const history = await shown.fit({ turn: running, isPaused: false, overheadFor, count: async () => 1 });
    if (summaries.length >= SUMMARIES) return history[0]?.blocks[0]?.textContent ?? "";
    shown.measure(Math.ceil(JSON.stringify(history).length / BYTES_PER_TOKEN));
    shown.add(past);
    summarizer.consider(shown);
    await new Promise(setImmediate);
  }
}

const comeBack = (preface: string) => ({
  pinned:
    PEOPLE.filter(({ identity, language }) => preface.includes(`"${identity}" (${language})`)).length +
    PROMISES.filter((id) => preface.includes(`(${id})`)).length,
  said: SAID.filter((fact) => preface.includes(fact)).length,
});

test("all of thirty facts are still there three summaries later, if the model that writes notes omits none", async () => {
  const copyFacts = (prompt: string) => [...new Set(prompt.match(/Fact \d+: [^.]+\./gu))].join("\n");

  expect(comeBack(await prefaceAfter(copyFacts))).toEqual({ pinned: 15, said: 15 });
});

test("facts on record are still there even if the model writes nothing about them", async () => {
  expect(comeBack(await prefaceAfter(() => "They talked."))).toEqual({ pinned: 15, said: 0 });
});
