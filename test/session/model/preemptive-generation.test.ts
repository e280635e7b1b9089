import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ChatCall, OpenStream } from "../../../src/session/model/open-stream.ts";
import { PreemptiveGeneration } from "../../../src/session/model/preemptive-generation.ts";
import type { ModelEvent } from "../../../src/llm/model-event.ts";

type Request = Parameters<PreemptiveGeneration["take"]>[0];

const requestFor = (words: string): Request => ({
  history: [{ role: "user", blocks: [{ blockType: "text", textContent: words, content: null }] }],
  isCompacted: false,
  toolChoice: "auto",
  tools: [],
  onRefusedTool: () => {},
  participant: "user",
});
const deltaOf = (text: string): ModelEvent => ({ type: "block_delta", index: 0, delta: { type: "text", text } });

interface Opened {
  readonly signal: AbortSignal;
  readonly hasEnded: () => boolean;
}

/** A model that streams a few words, with a pause before each. */
function modelOf(words: readonly string[], { fails = false } = {}) {
  const opened: Opened[] = [];
  const openStream: OpenStream = ({ observe }, signal) => {
    let hasEnded = false;
    opened.push({ signal, hasEnded: () => hasEnded });
    async function* stream(): AsyncGenerator<ModelEvent> {
      try {
        for (const word of words) {
          await sleep(2, undefined, { signal });
          yield deltaOf(word);
        }
        if (fails) throw new Error("Overloaded");
      } finally {
        hasEnded = true;
      }
    }
    return observe?.({} as ChatCall, stream()) ?? stream();
  };
  return { opened, openStream };
}

async function textOf(stream: AsyncIterable<ModelEvent> | undefined): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of stream ?? [])
    if (event.type === "block_delta" && event.delta.type === "text") texts.push(event.delta.text);
  return texts;
}

function speculate() {
  const ends: string[] = [];
  return { ends, speculations: new PreemptiveGeneration((end) => ends.push(end)) };
}

test.each([0, 3, 20])("a turn with the same request gets all events in order, taken after %i ms", async (ms) => {
  const { ends, speculations } = speculate();
  const { opened, openStream } = modelOf(["It ", "is ", "ten."]);
  speculations.begin(requestFor("What time is it?"), { openStream });
  await sleep(ms);

  const adopted = speculations.take(requestFor("What time is it?"));
  expect(await textOf(adopted?.stream(new AbortController().signal))).toEqual(["It ", "is ", "ten."]);
  expect(opened).toHaveLength(1);
  expect(ends).toEqual(["adopted"]);
});

test("a turn with a different request makes its own call, and the other is aborted", async () => {
  const { ends, speculations } = speculate();
  const { opened, openStream } = modelOf(["Yes.", "No."]);
  speculations.begin(requestFor("Order"), { openStream });

  expect(speculations.take(requestFor("Order nothing"))).toBeUndefined();
  await expect.poll(() => opened[0]?.hasEnded()).toBe(true);
  expect(opened[0]?.signal.aborted).toBe(true);
  expect(ends).toEqual(["void"]);
});

test("a failed call is not used", async () => {
  const { speculations } = speculate();
  const { opened, openStream } = modelOf([], { fails: true });
  speculations.begin(requestFor("Hi"), { openStream });
  await expect.poll(() => opened[0]?.hasEnded()).toBe(true);
  await sleep(1);

  expect(speculations.take(requestFor("Hi"))).toBeUndefined();
});

test("the turn's end aborts the call that it uses", async () => {
  const { speculations } = speculate();
  const { opened, openStream } = modelOf(Array.from({ length: 1_000 }, String));
  speculations.begin(requestFor("Hi"), { openStream });
  const turn = new AbortController();
  const reading = textOf(speculations.take(requestFor("Hi"))?.stream(turn.signal));
  await sleep(10);
  turn.abort();

  await expect(reading).rejects.toThrow("aborted");
  expect(opened[0]?.signal.aborted).toBe(true);
});

test("a participant who continues speaking costs two calls at most", () => {
  const { ends, speculations } = speculate();
  const { opened, openStream } = modelOf(["Yes."]);
  for (const words of ["I", "I would", "I would like"])
    if (speculations.mayBegin) speculations.begin(requestFor(words), { openStream });

  expect(opened).toHaveLength(2);
  speculations.beginTurn();
  expect(speculations.take(requestFor("I would like tea"))).toBeUndefined();
  expect(ends).toEqual(["void", "void"]);
});

test("if too many calls are wasted there are no further ones, until enough turns have passed", () => {
  const { ends, speculations } = speculate();
  const { openStream } = modelOf(["Yes."]);
  for (let turn = 0; turn < 100; turn++) {
    if (speculations.mayBegin) speculations.begin(requestFor(`${turn}`), { openStream });
    speculations.beginTurn();
    speculations.take(requestFor("something else"));
  }

  expect(new Set(ends)).toEqual(new Set(["void"]));
  expect(ends.length).toBeGreaterThan(30);
  expect(ends.length).toBeLessThanOrEqual(40);
});

test("if every call is used there is one for every turn", () => {
  const { ends, speculations } = speculate();
  const { openStream } = modelOf(["Yes."]);
  for (let turn = 0; turn < 20; turn++) {
    expect(speculations.mayBegin).toBe(true);
    speculations.begin(requestFor(`${turn}`), { openStream });
    speculations.beginTurn();
    speculations.take(requestFor(`${turn}`));
  }

  expect(ends).toEqual(Array.from({ length: 20 }, () => "adopted"));
});

test("the first sentence is synthesized as soon as it is complete, and discarded with the call", async () => {
  const { speculations } = speculate();
  const { openStream } = modelOf(["It is", " ten. And", " late. Good", " night."]);
  const prepared: string[] = [];
  const thrownAway: string[] = [];
  const prepare = (sentence: string) => {
    prepared.push(sentence);
    return () => void thrownAway.push(sentence);
  };
  speculations.begin(requestFor("What time is it?"), { openStream, language: "en", prepare });
  await expect.poll(() => prepared).toEqual(["It is ten."]);
  expect(thrownAway).toEqual([]);
  speculations.drop();
  expect(thrownAway).toEqual(["It is ten."]);
  expect(prepared).toHaveLength(1);
});
