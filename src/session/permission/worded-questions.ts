import { readYesOrNo, spokenAnswersOf } from "../../permission/spoken-answers.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { CallTurn, Said } from "../../tool/calls/call-ports.ts";
import { MAX_TITLE_LENGTH } from "../../tool/permission-need.ts";
import type { Peer } from "../peers/peer.ts";
import type { Peers } from "../peers/peers.ts";

/** How an answer comes. */
type Via = "voice" | "text";

interface Question {
  readonly record: PermissionRecord;
  /**
   * Whether a spoken yes counts, and any typed one. If false, only a typed yes to a question that was shown whole
   * counts. A no always counts.
   */
  readonly voiceApproval: boolean;
  /** Aborted when the question need not be said any more. */
  readonly cut: AbortSignal;
  /** Set when the question has been said in full to an approver who was there. */
  asked?: Asked;
}

interface Asked {
  /** The ways by which a yes and a no count: none once one is taken. */
  readonly ways: Readonly<Record<"yes" | "no", readonly Via[]>>;
  /** Whether it reached the approver in its present join. */
  readonly isThere: () => boolean;
}

/** Where a question can be said. */
export type Saying = Pick<CallTurn, "aside" | "signal" | "speech">;

interface WordedQuestionsOptions {
  readonly peers: Pick<Peers, "get">;
  /** Whether questions are said, and a spoken yes or no counts. */
  readonly byVoice: boolean;
}

/**
 * Questions that are put in words beside an answer: spoken if the answer is spoken, else shown. A participant whose
 * client shows no dialogs is always asked in words, because it would see nothing else. Others are asked in words with
 * `byVoice`, unless the tool has `voiceApproval: false`.
 */
export class WordedQuestions {
  readonly #options: WordedQuestionsOptions;
  /** By the request's id, the oldest first. */
  readonly #questions = new Map<string, Question>();

  constructor(options: WordedQuestionsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async ask(question: Omit<Question, "asked">, saying: Saying): Promise<void> {
    const { record, voiceApproval } = question;
    const hasDialog = this.#options.peers.get(record.participantIdentity)?.features.has("permissions") === true;
    if (hasDialog && !(this.#options.byVoice && voiceApproval)) return;
    const asked = { ...question };
    this.#questions.set(record.id, asked);
    await this.#say(asked, saying);
  }

  /** Says the questions that this participant has not heard in full, as when its turn was cut off. Never rejects. */
  async sayAgain(participant: string, saying: Saying): Promise<void> {
    for (const question of this.#questions.values())
      if (!isSaid(question) && question.record.participantIdentity === participant) await this.#say(question, saying);
  }

  /** Takes a yes or a no for the oldest question that this participant may answer so. It takes no second answer. */
  take(
    { identity, language }: Pick<Peer, "identity" | "language">,
    utterance: string,
    via: Via,
  ): { readonly permissionId: string; readonly answer: "yes" | "no" } | undefined {
    const said = this.#saidTo(identity);
    const answer = said.length > 0 ? readYesOrNo(utterance, language) : undefined;
    if (!answer) return undefined;
    // A question that takes a yes comes first: a no is meant for it, and not for one that takes no yes.
    const taking = (kind: "yes" | "no") => said.find(({ asked }) => asked?.ways[kind].includes(via));
    const question = taking("yes") ?? taking("no");
    if (!question?.asked?.ways[answer].includes(via)) return undefined;
    question.asked = { ways: { yes: [], no: [] }, isThere: () => true };
    return { permissionId: question.record.id, answer };
  }

  /** The id of the oldest question that this participant's next words may answer. */
  awaitedWords(identity: string): string | undefined {
    return this.#saidTo(identity)[0]?.record.id;
  }

  /** The questions that still take an answer of this participant, at least a no. */
  #saidTo(identity: string): Question[] {
    return [...this.#questions.values()].filter(
      (question) =>
        question.record.participantIdentity === identity && isSaid(question) && question.asked.ways.no.length > 0,
    );
  }

  forget(permissionId: string): void {
    this.#questions.delete(permissionId);
  }

  /** A question counts as asked only once the participant, while it was there, has heard it in full or was shown it. */
  async #say(question: Question, { aside, signal, speech }: Saying): Promise<void> {
    const { record, cut, voiceApproval } = question;
    if (!aside || signal.aborted || cut.aborted) return;
    const peer = this.#options.peers.get(record.participantIdentity);
    if (!peer?.isPresent) return;
    const isThere = sameJoin(peer);
    const isWhole = record.title.length < MAX_TITLE_LENGTH;
    const isQuestion = voiceApproval || (!speech && isWhole);
    const words = isQuestion ? toSpokenQuestion(record.title, peer.language) : record.title;
    const said = await aside(isAnothers(record) ? `${record.participantIdentity}: ${words}` : words, cut);
    if (!hasReached(said, peer) || signal.aborted || cut.aborted) return;
    // Without `voiceApproval` a typed yes counts only where the whole title was shown.
    const isTypable = voiceApproval || (said === "shown" && isWhole);
    if (isTypable && !isQuestion) await aside(spokenAnswersOf(peer.language).question, cut);
    const { byVoice } = this.#options;
    const yes: Via[] = [];
    if (byVoice && voiceApproval) yes.push("voice");
    if (isTypable) yes.push("text");
    if (isThere()) question.asked = { ways: { yes, no: byVoice ? ["voice", "text"] : ["text"] }, isThere };
  }
}

/** Whether a question was said, and its approver has not left since. */
function isSaid(question: Question): question is Question & { asked: Asked } {
  return question.asked?.isThere() === true;
}

/**
 * Tells whether a participant has been in the room without a break since now. Whoever comes back may have missed what was said, and
 * LiveKit notices late that a client has gone.
 */
export function sameJoin(peer: Pick<Peer, "joins" | "isPresent">): () => boolean {
  const { joins } = peer;
  return () => peer.isPresent && peer.joins === joins;
}

/** Whether a participant has got words that were said to it: one that calls by telephone reads nothing. */
export function hasReached(said: Said, peer: Pick<Peer, "isSip"> | undefined): boolean {
  return said === "heard" || (said === "shown" && peer?.isSip !== true);
}

/** Whether it is said in another participant's turn: then it begins with the name of whom it is put to. */
const isAnothers = ({ metadata }: PermissionRecord) => metadata["participant"] !== undefined;

/** A title as a question in a language: "Write notes/today.md. Yes or no?" */
function toSpokenQuestion(title: string, language: string | undefined): string {
  const stop = /[.!?。！？]$/u.test(title) ? "" : ".";
  return `${title}${stop} ${spokenAnswersOf(language).question}`;
}
