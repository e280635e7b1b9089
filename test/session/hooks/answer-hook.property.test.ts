import fc from "fast-check";
import { pino } from "pino";
import { expect, test } from "vitest";
import type { OnAnswer } from "../../../src/agent/turn-hooks.ts";
import type { TurnBlock } from "../../../src/conversation/block.ts";
import type { ModelEvent } from "../../../src/llm/model-event.ts";
import { sentencesOf, SentenceStream } from "../../../src/session/answer/sentence-stream.ts";
import { AnswerHook } from "../../../src/session/hooks/answer-hook.ts";
import { speakEvent } from "../../../src/session/turns/speak-event.ts";
import { runStep } from "../../../src/turn/run-step.ts";
import { StepToolUses } from "../../../src/turn/step-tool-uses.ts";
import { TurnDraft } from "../../../src/turn/turn-draft.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";
import { turn } from "../../conversation/arbitrary-turns.ts";

const SEED = { seed: propertySeed(20_261_128), numRuns: propertyRuns(200) };
const { signal } = new AbortController();

/** An AnswerHook without a session. */
function hookOf(onAnswer?: OnAnswer): AnswerHook {
  const agents = { current: { name: "default", ...(onAnswer && { onAnswer }) } };
  const core = { sessionId: "s", room: "r", roomSid: "RM_1", logger: pino({ level: "silent" }) };
  const rest = { participants: new Map(), policy: {}, state: { value: {} }, telemetry: { recordHook: () => {} } };
  return new AnswerHook({ ...core, ...rest, agents } as never);
}

async function* streamOf(pieces: readonly string[]): AsyncGenerator<ModelEvent> {
  const text = pieces.join("");
  yield { type: "block_start", index: 0, blockType: "text" };
  for (const piece of pieces) yield { type: "block_delta", index: 0, delta: { type: "text", text: piece } };
  yield { type: "block_stop", index: 0, block: { blockType: "text", textContent: text, content: null } };
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
  yield { type: "message_stop", stopReason: "end_turn", stopDetails: null, usage };
}

/** Runs a step with the hook. Returns its blocks, and the sentences that participants got. */
async function run(hook: AnswerHook, pieces: readonly string[]) {
  const sentences: string[] = [];
  const onSentence = ({ text }: { readonly text: string }) => void (text !== "" && sentences.push(text));
  const answer = new SentenceStream({ onSentence, onText: () => {} }, { language: "en" });
  const blocks: TurnBlock[] = [];
  const draft = new TurnDraft(turn(1, "running", {}), { add: (block) => blocks.push(block), durable: async () => {} });
  const openStream = () => hook.check(streamOf(pieces), { participant: "ann", signal });
  const deps = { draft, openStream, uses: new StepToolUses({} as never), usedIds: () => new Set() as never };
  for await (const event of runStep({ history: [], isCompacted: false, toolChoice: "auto" }, deps, signal))
    speakEvent(event, answer);
  answer.end();
  return { blocks, sentences };
}

const words = fc.constantFrom(
  "Tea",
  "is out.",
  "It costs 3.50 euros!",
  "Dr. No",
  "why?",
  "[X]",
  "\n",
  "- one\n",
  "e.g.",
);
const texts = fc.array(words, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(" "));
const pieces = fc.tuple(texts, fc.integer({ min: 1, max: 9 })).map(([text, size]) => {
  return text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [];
});
const changes = fc.array(fc.constantFrom(undefined, "", "[gone]", "no end mark", "One. Two.", " Spaced. ", "lower."));

test("a hook that changes nothing leaves blocks and sentences as they are without it", async () => {
  await fc.assert(
    fc.asyncProperty(pieces, async (written) => {
      const plain = await run(hookOf(), written);
      expect(
        await run(
          hookOf(() => undefined),
          written,
        ),
      ).toEqual(plain);
      expect(
        await run(
          hookOf((text) => ({ text })),
          written,
        ),
      ).toEqual(plain);
    }),
    SEED,
  );
});

test("whatever a hook makes of sentences, a worker that resumes the answer finds the sentences that were sent", async () => {
  await fc.assert(
    fc.asyncProperty(pieces, changes, async (written, made) => {
      let count = 0;
      const hook = hookOf(() => {
        const text = made[count++];
        return text === undefined ? undefined : { text };
      });

      const { blocks, sentences } = await run(hook, written);

      const [{ textContent, original } = { textContent: "", original: undefined }] = blocks;
      expect(sentencesOf([textContent ?? ""], "en").filter((sentence) => sentence !== "")).toEqual(sentences);
      expect(original ?? textContent).toBe(written.join(""));
    }),
    SEED,
  );
});

test("without a hook, the model's stream is passed on as it is", () => {
  const stream = streamOf(["Hi"]);

  expect(hookOf().check(stream, { participant: "ann", signal })).toBe(stream);
});
