import { evictOldest } from "../../lib/evict-oldest.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { AnswerEndEvent } from "../client-events.ts";

type Sentence = MessageBody<"assistant_sentence">;

interface OpenAnswer {
  readonly id: string;
  readonly previousId: string;
  readonly sentences: Map<number, Sentence>;
}

const MAX_OPEN = 32;

/** Puts the sentences of each answer in order. Calls `onEnd` when an answer is complete. */
export class Answers {
  readonly #open = new Map<string, OpenAnswer>();
  /** Ids of the most recently completed answers. */
  readonly #ended = new Set<string>();
  readonly #onEnd: (answer: AnswerEndEvent) => void;

  constructor(onEnd: (answer: AnswerEndEvent) => void) {
    this.#onEnd = onEnd;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  begin({ id, previousId }: MessageBody<"start_answer">): void {
    if (this.#open.has(id) || this.#ended.has(id)) return;
    this.#open.set(id, { id, previousId, sentences: new Map() });
    evictOldest(this.#open, MAX_OPEN);
  }

  /** Adds a sentence. A long sentence is sent as a stream, so it may arrive after the final sentence. */
  add(sentence: Sentence): void {
    const answer = this.#open.get(sentence.previousId);
    if (!answer) return;
    answer.sentences.set(sentence.sequence, sentence);
    const inOrder = [...answer.sentences.values()].toSorted((a, b) => a.sequence - b.sequence);
    const last = inOrder.at(-1);
    // Sequences start at 1, or at 0 with an older worker.
    const count = (last?.sequence ?? 0) + (answer.sentences.has(0) ? 1 : 0);
    if (!last?.isFinal || inOrder.length < count) return;
    const sentences = inOrder.map(({ text }) => text).filter((text) => text !== "");
    this.#end({ id: answer.id, previousId: answer.previousId, text: sentences.join(" "), sentences });
  }

  /** Adds an answer that we missed. It arrives as one message. */
  addWhole({ id, previousId = "", content }: MessageBody<"assistant_message">): void {
    if (!this.#ended.has(id)) this.#end({ id, previousId, text: content, sentences: content === "" ? [] : [content] });
  }

  #end(answer: AnswerEndEvent): void {
    this.#open.delete(answer.id);
    this.#ended.add(answer.id);
    evictOldest(this.#ended, MAX_OPEN);
    this.#onEnd(answer);
  }
}
