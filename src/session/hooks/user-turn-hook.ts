import {
  type HookSession,
  type OnUserTurn,
  type UserTurnDecision,
  userTurnDecisionSchema,
} from "../../agent/turn-hooks.ts";
import { type InputNote, type InputPart, inputText } from "../../conversation/turn-record.ts";
import { cleanText } from "../../lib/clean-json.ts";
import { phrasesFor } from "../answer/phrases.ts";
import type { MemoryPrompt } from "../memory/memory-prompt.ts";
import { fixedAnswerOf } from "../turns/fixed-answer.ts";
import type { NewTurn, TurnInput } from "../turns/turn-queue.ts";
import { callTurnHook, type HookOptions } from "./call-turn-hook.ts";

const WITHIN_MS = 2_000;

interface UserTurnHookOptions extends HookOptions {
  readonly memories: Pick<MemoryPrompt, "addMemories"> | undefined;
}

/** A hook that has been called for words that may become a turn. */
interface Asked {
  readonly key: string;
  readonly hooked: Promise<NewTurn>;
  readonly controller: AbortController;
}

/**
 * Calls the author's `onUserTurn` before a turn is stored, and adds the result to the turn's input. It is stored with
 * the turn, so a worker that resumes the turn, or an answer that is regenerated, does not call the hook again.
 */
export class UserTurnHook {
  readonly #options: UserTurnHookOptions;
  /** What preemptive generation has asked for. The turn with the same words uses it. */
  #asked: Asked | undefined;

  constructor(options: UserTurnHookOptions) {
    this.#options = options;
  }

  /** Returns the turn as the hook has changed it, with its participant's memories. Without a hook, calls nothing. */
  prepare(turn: TurnInput, signal: AbortSignal): TurnInput | Promise<TurnInput> {
    const withMemories = (input: TurnInput) => this.#options.memories?.addMemories(input) ?? input;
    if ("turn" in turn || turn.messageId === null || turn.isRepeated || !this.#hook) return withMemories(turn);
    const asked = this.#asked?.key === keyOf(turn) ? this.#asked : this.#ask(turn);
    if (asked !== this.#asked) this.drop();
    this.#asked = undefined;
    const abort = () => asked.controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    return asked.hooked.then((hooked) => {
      signal.removeEventListener("abort", abort);
      return withMemories({ ...turn, input: hooked.input });
    });
  }

  /**
   * Calls the hook for words that may become a turn. Returns the same turn if there is no hook. Resolves to `undefined`
   * if the model is not needed for this turn, or the participant has gone on speaking.
   */
  prepareEarly(turn: NewTurn): NewTurn | Promise<NewTurn | undefined> {
    if (!this.#hook) return turn;
    if (this.#asked?.key !== keyOf(turn)) this.drop();
    this.#asked ??= this.#ask(turn);
    const asked = this.#asked;
    return asked.hooked.then((hooked) => (asked === this.#asked && !fixedAnswerOf(hooked) ? hooked : undefined));
  }

  /** Cancels the call that was made early. */
  drop(): void {
    this.#asked?.controller.abort();
    this.#asked = undefined;
  }

  get #hook() {
    return this.#options.agents?.current.onUserTurn;
  }

  #ask(turn: NewTurn): Asked {
    const controller = new AbortController();
    return { key: keyOf(turn), hooked: this.#call(turn, controller.signal), controller };
  }

  /** Never rejects. */
  async #call(turn: NewTurn, cut: AbortSignal): Promise<NewTurn> {
    const { participants, policy } = this.#options;
    const hook = this.#hook;
    if (!hook) return turn;
    const { participant, input } = turn;
    const { language } = participants.get(participant) ?? {};
    const phrases = phrasesFor(language, policy.phrases);
    const said = { participant, text: inputText(input), language };
    const call = (run: OnUserTurn, session: HookSession) => run(said, session);
    const called = { name: "onUserTurn", hook, withinMs: WITHIN_MS, schema: userTurnDecisionSchema, call } as const;
    const { decision, onLate } = await callTurnHook(this.#options, called, cut);
    if (onLate === "refuse") return changed(turn, { refuse: phrases.failed }, phrases.failed);
    return changed(turn, decision, phrases.refused);
  }
}

function changed(turn: NewTurn, decision: UserTurnDecision, refused: string): NewTurn {
  if (!decision) return turn;
  const noteOf = (note: string, said?: string): InputNote => ({
    type: "note",
    note,
    ...(said !== undefined && { say: said }),
    ...(said !== undefined && decision.interruptible === false && { isInterruptible: false as const }),
    isFromHook: true,
  });
  if ("refuse" in decision) {
    const said = decision.refuse === true ? refused : cleanText(decision.refuse);
    const note = "The application refused this message and does not show it to you. You answered with fixed words.";
    const shown = reworded(turn.input, "").filter(({ type }) => type !== "attachment");
    return { ...turn, input: [...shown, noteOf(note, said)] };
  }
  const { context, text, answer } = decision;
  const shown = text === undefined ? turn.input : reworded(turn.input, cleanText(text));
  const notes: InputPart[] = [];
  if (context !== undefined) notes.push(noteOf(`Context from the application for this message: ${cleanText(context)}`));
  if (answer !== undefined) notes.push(noteOf("The application wrote your answer to this message.", cleanText(answer)));
  return { ...turn, input: [...shown, ...notes] };
}

/** Replaces all words by `text`, and keeps what was said in `original`. */
function reworded(input: readonly InputPart[], text: string): InputPart[] {
  const first = input.findIndex(({ type }) => type === "text");
  return input.flatMap((part, index): InputPart[] => {
    if (part.type !== "text") return [part];
    return index === first ? [{ ...part, text, original: inputText(input) }] : [];
  });
}

function keyOf({ participant, input }: NewTurn): string {
  return JSON.stringify([participant, input]);
}
