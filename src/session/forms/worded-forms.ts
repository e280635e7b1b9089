import type { FormAnswer } from "../../protocol/forms/form.ts";
import type { OpenCall } from "../../tool/calls/call-ledger.ts";
import type { CallTurn } from "../../tool/calls/call-ports.ts";
import type { SpokenQuestion } from "../../tool/calls/fill-in-form.ts";
import { showOutsideTurn } from "../answer/answer-output.ts";
import type { ParticipantState } from "../participants/participant-state.ts";
import type { Participants } from "../participants/participants.ts";
import { hasReached, sameJoin, type Saying } from "../permission/worded-questions.ts";
import type { RoomLink } from "../room/room-link.ts";
import type { VoicePort } from "../room/voice-port.ts";
import type { Outbox } from "../wire/outbox.ts";
import { formWordsOf } from "./form-words.ts";
import { readSpokenField, toFieldQuestion } from "./spoken-field.ts";

interface WordedFormsOptions {
  readonly participants: Pick<Participants, "get">;
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
    const participantState = this.#options.participants.get(participant);
    if (participantState?.isSip && !this.#options.voice?.isTwoWay) return Promise.resolve({ action: "cancel" });
    const { promise, resolve } = Promise.withResolvers<FormAnswer>();
    if (form.signal.aborted) return promise;
    const words = [...asked.before, toFieldQuestion(asked.field, participantState?.language)].join(" ");
    const open: Open = { ...asked, form, turn, resolve, words, isAsked: () => false, misses: 0 };
    this.#open.set(id, open);
    form.signal.addEventListener("abort", () => this.#open.delete(id), { once: true });
    void this.#say(open, this.#sayingOf(open));
    return promise;
  }

  /** Whether this participant is being asked for any field. */
  isAnyAwaited(participant: string): boolean {
    return this.#of(participant).length > 0;
  }

  /** Returns the id of the question that this participant's next words answer. */
  openQuestionId(participant: string): string | undefined {
    const open = this.#of(participant).find(({ isAsked }) => isAsked());
    return open && `${open.form.current.id} ${open.field.name} ${open.misses}`;
  }

  /**
   * Takes an utterance as the answer to the oldest question that this participant was asked in full. Returns `false` if
   * there is no such question.
   */
  takeUtterance({ identity, language }: Pick<ParticipantState, "identity" | "language">, utterance: string): boolean {
    const open = this.#of(identity).find(({ isAsked }) => isAsked());
    if (!open) return false;
    const { field, form } = open;
    const read = readSpokenField(field, utterance, language);
    if (read.kind === "invalid") {
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
    const { invalid } = formWordsOf(language);
    // The problem's text is in English, so it is omitted in other languages.
    const isEnglish = invalid === formWordsOf("en").invalid;
    const why = problem !== undefined && isEnglish ? `${invalid.replace(/\.$/u, "")}: ${problem}.` : invalid;
    open.words = `${why} ${toFieldQuestion(open.field, language)}`;
    open.isAsked = () => false;
    void this.#say(open, this.#sayingOf(open));
  }

  /**
   * Returns where to ask the question. While the call's turn is running, it is asked there. After that, participants
   * who read are shown the question in a separate message, and participants who listen hear it after their next answer
   * (`sayAgain`).
   */
  #sayingOf({ form, turn }: Open): Saying {
    const running = turn();
    if (running && !running.signal.aborted) return running;
    const { participant, messageId: previousId } = form.current;
    const participantState = this.#options.participants.get(participant);
    if (!participantState?.isPresent || this.#options.voice?.isTwoWay) return { signal: form.signal };
    const aside = (text: string) =>
      showOutsideTurn(text, { ...this.#options, previousId, participant, language: participantState.language });
    return { signal: form.signal, aside };
  }

  /** Asks a question. It counts as asked only once the participant has heard it in full or was shown it. */
  async #say(open: Open, { aside, signal }: Saying): Promise<void> {
    const formSignal = open.form.signal;
    if (!aside || signal.aborted || formSignal.aborted) return;
    const { words } = open;
    const participantState = this.#options.participants.get(open.form.current.participant);
    if (!participantState?.isPresent) return;
    const isStillPresent = sameJoin(participantState);
    const said = await aside(words, formSignal);
    if (!hasReached(said, participantState) || signal.aborted || formSignal.aborted || words !== open.words) return;
    open.isAsked = isStillPresent;
  }
}
