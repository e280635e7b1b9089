import type { FormAnswer } from "../../protocol/forms/form.ts";
import type { OpenCall } from "../../tool/calls/call-ledger.ts";
import type { CallTurn } from "../../tool/calls/call-ports.ts";
import type { SpokenQuestion } from "../../tool/calls/fill-in-form.ts";
import { sayApart } from "../answer/answer-output.ts";
import type { Peer } from "../peers/peer.ts";
import type { Peers } from "../peers/peers.ts";
import { hasReached, sameJoin, type Saying } from "../permission/worded-questions.ts";
import type { RoomLink } from "../room/room-link.ts";
import type { VoicePort } from "../room/voice-port.ts";
import type { Outbox } from "../wire/outbox.ts";
import { formWordsOf } from "./form-words.ts";
import { readSpokenField, toFieldQuestion } from "./spoken-field.ts";

interface WordedFormsOptions {
  readonly peers: Pick<Peers, "get">;
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly voice?: Pick<VoicePort, "isTwoWay"> | undefined;
}

interface Open extends SpokenQuestion {
  readonly form: OpenCall;
  /** The call's turn, while something can still be spoken or shown in it. */
  readonly turn: () => CallTurn | undefined;
  readonly resolve: (answer: FormAnswer) => void;
  /** The question as it will be asked, or was last asked. */
  words: string;
  /**
   * Whether the question was asked in full and the participant is still there. If so, their next words are the answer.
   */
  isAsked: () => boolean;
  misses: number;
}

/** How many answers may be unusable before the form is canceled. */
const MISSES = 2;

/**
 * Asks for form fields in words: spoken if the answer is spoken, otherwise shown. Once a question has been asked in
 * full, the participant's next words, spoken or typed, are the answer.
 */
export class WordedForms {
  readonly #options: WordedFormsOptions;
  /** Open questions by form id, oldest first. */
  readonly #open = new Map<string, Open>();

  constructor(options: WordedFormsOptions) {
    this.#options = options;
  }

  /** Asks for a field and resolves to the answer. Never rejects, and never settles if the form ends in another way. */
  ask(form: OpenCall, asked: SpokenQuestion, turn: Open["turn"]): Promise<FormAnswer> {
    const { id, participant } = form.current;
    const peer = this.#options.peers.get(participant);
    if (peer?.isSip && !this.#options.voice?.isTwoWay) return Promise.resolve({ action: "cancel" });
    const { promise, resolve } = Promise.withResolvers<FormAnswer>();
    if (form.over.aborted) return promise;
    const words = [...asked.before, toFieldQuestion(asked.field, peer?.language)].join(" ");
    const open: Open = { ...asked, form, turn, resolve, words, isAsked: () => false, misses: 0 };
    this.#open.set(id, open);
    form.over.addEventListener("abort", () => this.#open.delete(id), { once: true });
    void this.#say(open, this.#sayingOf(open));
    return promise;
  }

  /** Whether this participant is being asked for any field. */
  isAnyAwaited(participant: string): boolean {
    return this.#of(participant).length > 0;
  }

  /** Returns the id of the question that this participant's next words answer. */
  awaitedWords(participant: string): string | undefined {
    const open = this.#of(participant).find(({ isAsked }) => isAsked());
    return open && `${open.form.current.id} ${open.field.name} ${open.misses}`;
  }

  /**
   * Takes an utterance as the answer to the oldest question that this participant was asked in full. Returns `false` if
   * there is no such question.
   */
  takeUtterance({ identity, language }: Pick<Peer, "identity" | "language">, utterance: string): boolean {
    const open = this.#of(identity).find(({ isAsked }) => isAsked());
    if (!open) return false;
    const { field, form } = open;
    const read = readSpokenField(field, utterance, language);
    if (read.kind === "misfit") {
      this.#miss(open, read.problem, language);
      return true;
    }
    this.#open.delete(form.current.id);
    if (read.kind === "refused") open.resolve({ action: "decline" });
    else open.resolve({ action: "accept", content: read.kind === "value" ? { [field.name]: read.value } : {} });
    return true;
  }

  /**
   * Asks this participant the questions that were not asked in full, for example because the turn was cut off. Never
   * rejects.
   */
  async sayAgain(participant: string, saying: Saying): Promise<void> {
    for (const open of this.#of(participant)) if (!open.isAsked()) await this.#say(open, saying);
  }

  #of(participant: string): Open[] {
    return [...this.#open.values()].filter(({ form }) => form.current.participant === participant);
  }

  #miss(open: Open, problem: string | undefined, language: string | undefined): void {
    open.misses += 1;
    if (open.misses > MISSES) {
      this.#open.delete(open.form.current.id);
      return open.resolve({ action: "cancel" });
    }
    const { misfit } = formWordsOf(language);
    // The problem's text is in English, so it is omitted in other languages.
    const isEnglish = misfit === formWordsOf("en").misfit;
    const why = problem !== undefined && isEnglish ? `${misfit.replace(/\.$/u, "")}: ${problem}.` : misfit;
    open.words = `${why} ${toFieldQuestion(open.field, language)}`;
    open.isAsked = () => false;
    void this.#say(open, this.#sayingOf(open));
  }

  /**
   * Returns where to ask the question. Once the turn has ended, participants who read are shown it in a separate
   * message. Participants who listen hear it after their next answer (`sayAgain`).
   */
  #sayingOf({ form, turn }: Open): Saying {
    const running = turn();
    if (running && !running.signal.aborted) return running;
    const { participant, messageId: previousId } = form.current;
    const peer = this.#options.peers.get(participant);
    if (!peer?.isPresent || this.#options.voice?.isTwoWay) return { signal: form.over };
    const aside = (text: string) =>
      sayApart(text, { ...this.#options, previousId, participant, language: peer.language });
    return { signal: form.over, aside };
  }

  /** A question counts as asked only once the participant has heard it in full or was shown it. */
  async #say(open: Open, { aside, signal }: Saying): Promise<void> {
    const { over } = open.form;
    if (!aside || signal.aborted || over.aborted) return;
    const { words } = open;
    const peer = this.#options.peers.get(open.form.current.participant);
    if (!peer?.isPresent) return;
    const isThere = sameJoin(peer);
    const said = await aside(words, over);
    if (!hasReached(said, peer) || signal.aborted || over.aborted || words !== open.words) return;
    open.isAsked = isThere;
  }
}
