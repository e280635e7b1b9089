import { readYesOrNo, spokenAnswersOf } from "../../permission/spoken-answers.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { CallTurn, Delivery } from "../../tool/calls/call-ports.ts";
import { MAX_TITLE_LENGTH } from "../../tool/permission-need.ts";
import type { ParticipantState } from "../participants/participant-state.ts";
import type { Participants } from "../participants/participants.ts";

/** How an answer arrives. */
type Via = "voice" | "text";

interface Question {
  readonly record: PermissionRecord;
  /**
   * Whether any yes counts, spoken or typed. If `false`, a yes counts only if it was typed and the question was shown
   * in full. A no always counts.
   */
  readonly voiceApproval: boolean;
  /** Aborted when the question no longer needs to be asked. */
  readonly cut: AbortSignal;
  /** Set once the question was asked in full while the approver was present. */
  asked?: AcceptedAnswers;
}

interface AcceptedAnswers {
  /** The means by which a yes and a no are accepted. Empty once an answer was accepted. */
  readonly ways: Readonly<Record<"yes" | "no", readonly Via[]>>;
  /** Whether the approver has stayed in the room since being asked. */
  readonly isStillPresent: () => boolean;
}

/** Where a question can be spoken or shown. */
export type Saying = Pick<CallTurn, "aside" | "signal" | "speech">;

interface WordedQuestionsOptions {
  readonly participants: Pick<Participants, "get">;
  /** Whether questions are spoken, and a spoken yes or no counts. */
  readonly byVoice: boolean;
}

/**
 * Asks permission questions in words alongside an answer: spoken if the answer is spoken, otherwise shown. A
 * participant whose client has no dialogs is always asked in words, because the client shows nothing else. Others are
 * asked in words if `byVoice` is on, unless the tool sets `voiceApproval: false`.
 */
export class WordedQuestions {
  readonly #options: WordedQuestionsOptions;
  /** Open questions by request id, oldest first. */
  readonly #questions = new Map<string, Question>();

  constructor(options: WordedQuestionsOptions) {
    this.#options = options;
  }

  /** Asks a question, if its approver is asked in words. Never rejects. */
  async ask(question: Omit<Question, "asked">, saying: Saying): Promise<void> {
    const { record, voiceApproval } = question;
    const hasDialog = this.#options.participants.get(record.participantIdentity)?.features.has("permissions") === true;
    if (hasDialog && !(this.#options.byVoice && voiceApproval)) return;
    const asked = { ...question };
    this.#questions.set(record.id, asked);
    await this.#say(asked, saying);
  }

  /**
   * Asks this participant the questions that were not asked in full, for example because a turn was cut off. Never
   * rejects.
   */
  async sayAgain(participant: string, saying: Saying): Promise<void> {
    for (const question of this.#questions.values())
      if (!isAsked(question) && question.record.participantIdentity === participant) await this.#say(question, saying);
  }

  /**
   * Takes a spoken or typed yes or no (`via`) as the answer to the oldest question that accepts it from this
   * participant. Each question accepts only one answer.
   */
  take(
    { identity, language }: Pick<ParticipantState, "identity" | "language">,
    utterance: string,
    via: Via,
  ): { readonly permissionId: string; readonly answer: "yes" | "no" } | undefined {
    const said = this.#askedOf(identity);
    const answer = said.length > 0 ? readYesOrNo(utterance, language) : undefined;
    if (!answer) return undefined;
    // Questions that accept a yes come first: a no is more likely meant for them than for other questions.
    const taking = (kind: "yes" | "no") => said.find(({ asked }) => asked?.ways[kind].includes(via));
    const question = taking("yes") ?? taking("no");
    if (!question?.asked?.ways[answer].includes(via)) return undefined;
    question.asked = { ways: { yes: [], no: [] }, isStillPresent: () => true };
    return { permissionId: question.record.id, answer };
  }

  /** Returns the id of the oldest question that this participant's next words may answer. */
  openQuestionId(identity: string): string | undefined {
    return this.#askedOf(identity)[0]?.record.id;
  }

  /** Returns the questions that still accept an answer from this participant, at least a no. */
  #askedOf(identity: string): Question[] {
    return [...this.#questions.values()].filter(
      (question) =>
        question.record.participantIdentity === identity && isAsked(question) && question.asked.ways.no.length > 0,
    );
  }

  forget(permissionId: string): void {
    this.#questions.delete(permissionId);
  }

  /**
   * Asks a question. It counts as asked only once the participant, while present, has heard it in full or was shown it.
   */
  async #say(question: Question, { aside, signal, speech }: Saying): Promise<void> {
    const { record, cut, voiceApproval } = question;
    if (!aside || signal.aborted || cut.aborted) return;
    const participantState = this.#options.participants.get(record.participantIdentity);
    if (!participantState?.isPresent) return;
    const isStillPresent = sameJoin(participantState);
    const isWhole = record.title.length < MAX_TITLE_LENGTH;
    const isQuestion = voiceApproval || (!speech && isWhole);
    const words = isQuestion ? toSpokenQuestion(record.title, participantState.language) : record.title;
    const said = await aside(isForAnotherTurn(record) ? `${record.participantIdentity}: ${words}` : words, cut);
    if (!hasReached(said, participantState) || signal.aborted || cut.aborted) return;
    // Without `voiceApproval`, a typed yes counts only if the whole title was shown.
    const acceptsText = voiceApproval || (said === "shown" && isWhole);
    if (acceptsText && !isQuestion) await aside(spokenAnswersOf(participantState.language).question, cut);
    const { byVoice } = this.#options;
    const yes: Via[] = [];
    if (byVoice && voiceApproval) yes.push("voice");
    if (acceptsText) yes.push("text");
    if (isStillPresent())
      question.asked = { ways: { yes, no: byVoice ? ["voice", "text"] : ["text"] }, isStillPresent };
  }
}

/** Whether a question was asked, and its approver has not left since. */
function isAsked(question: Question): question is Question & { asked: AcceptedAnswers } {
  return question.asked?.isStillPresent() === true;
}

/**
 * Returns a function that checks whether a participant has stayed in the room since this call. A participant who
 * returns may have missed what was said, because LiveKit notices late that a client has gone.
 */
export function sameJoin(participantState: Pick<ParticipantState, "joins" | "isPresent">): () => boolean {
  const { joins } = participantState;
  return () => participantState.isPresent && participantState.joins === joins;
}

/** Whether a participant received words addressed to it. A phone caller cannot read shown text. */
export function hasReached(said: Delivery, participantState: Pick<ParticipantState, "isSip"> | undefined): boolean {
  return said === "heard" || (said === "shown" && participantState?.isSip !== true);
}

/** Whether the question is asked in another participant's turn. If so, the question starts with the approver's name. */
const isForAnotherTurn = ({ metadata }: PermissionRecord) => metadata["participant"] !== undefined;

/** Returns a title as a question in a language: "Write notes/today.md. Yes or no?" */
function toSpokenQuestion(title: string, language: string | undefined): string {
  const stop = /[.!?。！？]$/u.test(title) ? "" : ".";
  return `${title}${stop} ${spokenAnswersOf(language).question}`;
}
