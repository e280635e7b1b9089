import { answerDecisionSchema, type HookSession, type OnAnswer } from "../../agent/turn-hooks.ts";
import { cleanText } from "../../lib/clean-json.ts";
import { type ModelEvent, NO_USAGE, type TextDelta } from "../../llm/model-event.ts";
import { phrasesFor } from "../answer/phrases.ts";
import { callTurnHook, type HookOptions } from "./call-turn-hook.ts";
import { CheckedText } from "./checked-text.ts";

const WITHIN_MS = 50;

interface AnswerTurn {
  readonly participant: string;
  /** Aborted when the answer is interrupted. */
  readonly signal: AbortSignal;
}

interface Checked {
  readonly text: string;
  /** Whether the answer ends with this text. */
  readonly isLast?: true;
}

/**
 * Calls the author's `onAnswer` with each sentence of a model's answer. Everything that comes after the model call, such
 * as the voice, the record and the model's history, gets only the checked text. What the model wrote is stored with the
 * block.
 */
export class AnswerHook {
  readonly #options: HookOptions;

  constructor(options: HookOptions) {
    this.#options = options;
  }

  /** Whether the current agent has the hook. */
  get isSet(): boolean {
    return this.#hook !== undefined;
  }

  /**
   * Passes a model call's events on, with each sentence as the hook has changed it. If the hook stops the answer, cuts
   * off the model call. Without a hook, returns the same stream.
   */
  check(stream: AsyncIterable<ModelEvent>, turn: AnswerTurn): AsyncIterable<ModelEvent> {
    return this.isSet ? this.#checked(stream, turn) : stream;
  }

  get #hook() {
    return this.#options.agents?.current.onAnswer;
  }

  async *#checked(stream: AsyncIterable<ModelEvent>, turn: AnswerTurn): AsyncGenerator<ModelEvent, void> {
    const { language } = this.#options.participants.get(turn.participant) ?? {};
    const texts = new Map<number, CheckedText | undefined>();
    let usage = NO_USAGE;
    for await (const event of stream) {
      if (event.type === "message_start") usage = event.usage;
      if (event.type === "block_start")
        texts.set(event.index, event.blockType === "text" ? new CheckedText(language) : undefined);
      const text = "index" in event ? texts.get(event.index) : undefined;
      if (!text || !isText(event)) {
        yield event;
        continue;
      }
      const { index } = event;
      for (const sentence of event.type === "block_stop" ? text.end() : text.write(event.delta.text)) {
        const { text: words, isLast } = await this.#ask(sentence, turn);
        const delta = text.add(isLast ? sentence.trimEnd() : sentence, words);
        const endsSentence = event.type === "block_delta";
        yield { type: "block_delta", index, delta: { ...delta, ...(endsSentence && { endsSentence }) } };
        if (!isLast) continue;
        yield { type: "block_stop", index, block: text.toBlock() };
        yield { type: "message_stop", stopReason: "hook", stopDetails: null, usage };
        return;
      }
      if (event.type === "block_stop") yield { ...event, block: text.toBlock(event.block) };
    }
  }

  /** @throws the signal's reason if the answer is interrupted, because the sentence must then not be sent */
  async #ask(written: string, { participant, signal }: AnswerTurn): Promise<Checked> {
    const sentence = written.trim();
    const hook = this.#hook;
    if (sentence === "" || !hook) return { text: sentence };
    const { participants, policy } = this.#options;
    const phrases = phrasesFor(participants.get(participant)?.language, policy.phrases);
    const call = (run: OnAnswer, session: HookSession) => run(sentence, session);
    const called = { name: "onAnswer", hook, withinMs: WITHIN_MS, schema: answerDecisionSchema, call } as const;
    const { decision, onLate } = await callTurnHook(this.#options, called, signal);
    signal.throwIfAborted();
    if (onLate === "refuse") return { text: phrases.failed, isLast: true };
    if (!decision) return { text: sentence };
    if ("text" in decision) return { text: cleanText(decision.text) };
    return { text: decision.stop === true ? phrases.refused : cleanText(decision.stop), isLast: true };
  }
}

type BlockStop = Extract<ModelEvent, { readonly type: "block_stop" }>;
type Delta = Extract<ModelEvent, { readonly type: "block_delta" }>;

/** Whether an event of a text block continues or ends its text. */
function isText(event: ModelEvent): event is BlockStop | (Delta & { readonly delta: TextDelta }) {
  return event.type === "block_stop" || (event.type === "block_delta" && event.delta.type === "text");
}
