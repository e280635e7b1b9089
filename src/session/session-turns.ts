import type { SessionAgents } from "./agent/session-agents.ts";
import type { AnswerOutput } from "./answer/answer-output.ts";
import type { SessionCalls } from "./calls/session-calls.ts";
import type { Configurations } from "./peers/configurations.ts";
import type { PermissionDesk } from "./permission/permission-desk.ts";
import type { SessionMedia } from "./record/session-media.ts";
import type { Restored } from "./restore/restore.ts";
import { Summariser, type NotesModel } from "./context/summariser.ts";
import { phrasesFor } from "./answer/phrases.ts";
import type { ToldMemories } from "./memory/told-memories.ts";
import type { Spending } from "./spending/spending.ts";
import { AppError, toAppError } from "../errors/app-error.ts";
import { abortable } from "../lib/abortable.ts";
import { createId } from "../lib/id.ts";
import { ShownTalk, type Window } from "../turn/shown-talk.ts";
import { LateOutcomes } from "./turns/late-outcomes.ts";
import type { CountTokens, OpenStream } from "./model/open-stream.ts";
import { withOpening, withOutcomes, type LateOutcome } from "./turns/outcome-turn.ts";
import { wordsOf } from "./turns/own-words.ts";
import { PassingOver } from "./turns/passing-over.ts";
import { createTurn } from "./turns/create-turn.ts";
import { logTurnEnd } from "./turns/log-turn-end.ts";
import { runSessionTurn, type EndedTurn } from "./turns/session-turn.ts";
import { ModelCalls } from "./model/model-calls.ts";
import { leftOf, messageOf, participantOf, TurnQueue } from "./turns/turn-queue.ts";
import type { NewTurn, TurnInput, UnfinishedTurn, VariationRequest } from "./turns/turn-queue.ts";
import { Speakers } from "./turns/speakers.ts";
import { toVariationTurn } from "./turns/variation.ts";
import type { SessionCore } from "./session-core.ts";

type Core = "policy" | "peers" | "outbox" | "link" | "voice" | "recorder" | "archive" | "telemetry" | "logger" | "tell";

interface SessionTurnsOptions extends Pick<SessionCore, Core> {
  readonly restored: Pick<Restored, "window" | "lastPosition">;
  /** @defaultValue one agent, whose instructions do not change */
  readonly agents?: SessionAgents | undefined;
  readonly openStream: OpenStream;
  readonly countTokens?: CountTokens | undefined;
  /** Writes notes on older turns. @defaultValue there are no notes */
  readonly notesModel?: NotesModel | undefined;
  readonly calls: SessionCalls;
  /** The parts that ask participants in words. */
  readonly worded: readonly Pick<PermissionDesk, "sayAgain" | "isAnyAwaited">[];
  readonly configurations: Pick<Configurations, "untilAnnounced">;
  readonly memories?: ToldMemories | undefined;
  readonly media: Pick<SessionMedia, "of">;
  readonly spending: Pick<Spending, "isWarningDue" | "limited">;
}

/** Anthropic keeps a prompt in its cache for five minutes after the last use. */
const CACHE_LASTS_MS = 5 * 60_000;

/** A session's turns, one after another: begins them, ends them early, and knows what the next goes on from. */
export class SessionTurns {
  readonly #options: Omit<SessionTurnsOptions, "restored">;
  readonly #queue = new TurnQueue(
    (input, signal) => this.#run(input, signal),
    () => void this.#lateOutcomes.speak(),
  );
  readonly #lateOutcomes: LateOutcomes;
  readonly #speakers: Speakers | undefined;
  #shown: ShownTalk;
  readonly #summariser: Summariser | undefined;
  readonly #model: ModelCalls;
  /** When the last turn ended, by `performance.now()`. */
  #lastEnd = performance.now();
  readonly #passing: PassingOver;
  /** The position of the newest turn, replaced or not. */
  #lastPosition: number;
  /** The turn that is being answered or spoken, by its id and those of its messages: a ControlStop may name any of them. */
  #running: { readonly ids: readonly string[]; readonly answer: Pick<AnswerOutput, "silence"> } | undefined;

  constructor({ restored, ...options }: SessionTurnsOptions) {
    this.#options = options;
    const { notesModel: model, logger, policy, agents, peers, voice, archive } = options;
    this.#summariser = model && new Summariser({ model, archive, budgetTokens: policy.context.budgetTokens, logger });
    this.#model = new ModelCalls(options, () => this.#shown);
    this.#shown = this.#showing(restored.window);
    this.#speakers = agents && new Speakers({ agents, peers });
    this.#lastPosition = restored.lastPosition;
    this.#passing = new PassingOver({ queue: this.#queue, calls: options.calls, turnId: () => this.#running?.ids[0] });
    this.#lateOutcomes = new LateOutcomes({
      isPause: () => this.#queue.isOpen && !peers.isEmpty,
      untilQuiet: async (signal) => voice?.untilQuiet(signal),
      begin: (turn) => this.#queue.add(turn),
    });
  }

  /** Whether no turn runs, and none is about to. */
  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  /** From now on no turn begins: another worker will begin them. */
  hold(): void {
    this.#queue.hold();
  }

  /**
   * @param interrupts whether to end the running turn whatever the policy is, unless a tool blocks that
   * @throws {AppError} `queue_overflow`, `unavailable`
   */
  add(turn: NewTurn | VariationRequest, { interrupts = false } = {}): void {
    const interruptsNow = interrupts || this.#options.policy.onNewMessage === "interrupt";
    if (interruptsNow && !this.#options.calls.isBlocking) this.#queue.abort("interrupted");
    this.#queue.add(turn);
    this.passOver();
  }

  /**
   * Asks the model already for the answer to what a participant has said so far. If that is all, and the turn would ask
   * the same, it takes this answer. Never rejects.
   */
  async speculate(participant: string, text: string): Promise<void> {
    // The participant may be answering a question of the worker.
    const isAsked = this.#options.worded.some((asking) => asking.isAnyAwaited(participant));
    if (!this.#queue.isOpen || text.trim() === "" || isAsked) return;
    // With several participants a message is shown in another form, and may get no answer at all.
    if (this.#speakers && this.#options.peers.present.length > 1) return;
    const said = { participant, messageId: createId(), input: [{ type: "text", text }] } as const;
    await this.#model.speculate(createTurn(said, this.#lastPosition + 1), () => this.#queue.isOpen);
  }

  /** The words were no message, so the answer that was asked for is dropped. */
  dropSpeculation(): void {
    this.#model.drop();
  }

  /** Takes up the turn that an earlier worker left. Call it before any `add`, because it comes before new turns. */
  resume(unfinished: UnfinishedTurn): void {
    this.#queue.add(unfinished);
  }

  /** Call it whenever the running turn may have begun to hold up others. */
  passOver(): void {
    this.#passing.check();
  }

  /**
   * Ends the running turn, or its speech alone.
   *
   * @returns `false` if `targetId` names another turn, or something else: then nothing is stopped
   */
  stop(targetId: string | undefined, what: "generation" | "speech" | "all"): boolean {
    if (targetId !== undefined && !this.#running?.ids.includes(targetId)) return false;
    if (what === "speech") this.#running?.answer.silence();
    else this.#queue.abort("stopped");
    return true;
  }

  /** Takes the outcome of a call for which the model has only got a receipt. */
  addOutcome(outcome: LateOutcome): void {
    this.#lateOutcomes.add(outcome);
  }

  /** From now on, also in the running turn, the model is shown this summary in the place of ended turns. */
  forget(summary: string): void {
    this.#shown.forget(summary);
    this.#summariser?.forget();
  }

  /** Begins a turn about an outcome that waits, if there is a pause. Call it when a participant has joined. */
  speakOutcomes(): void {
    void this.#lateOutcomes.speak();
  }

  /** Ends the turns. Messages that wait are left to the next worker; variations are refused, and may be sent again. */
  async close(graceMs: number): Promise<void> {
    this.#lateOutcomes.close();
    this.#summariser?.close();
    this.#passing.close();
    this.#model.drop();
    for (const { from, id, why } of this.#queue.shut()) this.#options.outbox.postError(why, from, id);
    await this.#queue.close(graceMs, () => this.#options.calls.isOnlyWaitingToStart(this.#running?.ids[0]));
  }

  /** Never rejects: whoever waits for a turn that breaks off is told so, and the next turn runs. */
  async #run(input: TurnInput | VariationRequest, signal: AbortSignal): Promise<void> {
    const { outbox, archive, logger } = this.#options;
    try {
      if ("isStale" in input && input.isStale?.()) return;
      if (!("variation" in input)) return await this.#runTurn(input, signal);
      const { participant, variation, meta } = input;
      const target = await archive.find(variation.targetId);
      await this.#runTurn({ ...toVariationTurn(variation, participant, target), meta }, signal);
    } catch (error) {
      if (!(error instanceof AppError)) logger.error({ error }, "turn broke off");
      this.#running = undefined;
      outbox.postError(error, participantOf(input), messageOf(input));
    }
  }

  async #runTurn(asked: TurnInput, signal: AbortSignal): Promise<void> {
    const { logger, telemetry, configurations, memories, agents, peers } = this.#options;
    let begin = asked;
    let failure: AppError | undefined;
    try {
      this.#summariser?.putOff();
      const preparing = agents?.prepare((identity) => peers.get(identity)?.language);
      // An abort ends the wait at once.
      if (preparing) await abortable(preparing, signal).catch(() => {});
      const telling = memories?.tell(asked) ?? asked;
      // Awaited only if it is a promise: the turn must be stored before what waits behind it.
      const input = telling instanceof Promise ? await telling : telling;
      const replacing = this.#replacing(input);
      begin = this.#prepare(replacing ? await replacing : input);
      const left = leftOf(begin);
      if (left) await configurations.untilAnnounced(left, signal);
    } catch (error) {
      // The answer that was to be replaced stays.
      if ("replaces" in asked && asked.replaces) throw error;
      failure = toAppError(error);
    }
    const answer = () => this.#answerTurn(begin, signal, failure);
    // The turn has ended: only the rest of its answer is said.
    if ("turn" in begin && begin.turn.state !== "running") return void (await answer());
    const startedAt = performance.now();
    const { meta, spoken } = "turn" in begin ? {} : begin;
    const participant = participantOf(begin);
    await telemetry.turn({ participant, meta, spoken, agent: agents?.named }, async () => {
      const turn = await answer();
      logTurnEnd(logger, turn, Math.round(performance.now() - startedAt));
      return turn;
    });
  }

  /** @param failure why the turn could not be prepared: it begins all the same, so that its failure is sent and stored */
  async #answerTurn(begin: TurnInput, signal: AbortSignal, failure: AppError | undefined): Promise<EndedTurn> {
    const turn = await runSessionTurn(begin, this.#portsOf(begin, failure), signal);
    this.#running = undefined;
    this.#shown.add(turn);
    this.#lastEnd = performance.now();
    this.#summariser?.consider(this.#shown);
    this.#lastPosition = turn.position;
    return turn;
  }

  /** Adds what a turn begins with: to a participant's turn, the late outcomes that have come meanwhile. */
  #prepare(begin: TurnInput): TurnInput {
    if ("turn" in begin) {
      this.#shown.resume(begin.turn);
      // A turn that is taken up keeps what it was shown, because its thinking goes on from that.
      if (begin.turn.blocks.length > 0) return begin;
    }
    this.#shown.makeRoom({
      notes: this.#summariser?.notes,
      isWriting: this.#summariser?.isAble ?? false,
      isCold: performance.now() - this.#lastEnd > CACHE_LASTS_MS,
    });
    if ("turn" in begin || begin.messageId === null) return begin;
    const told = this.#speakers?.tell(begin, this.#shown.turns) ?? begin;
    // Not for a turn with given words: the model, which is not asked, could not tell of the outcomes.
    return wordsOf(told) ? told : withOutcomes(told, this.#lateOutcomes.take(begin.participant));
  }

  #showing(window: Window): ShownTalk {
    const { policy, peers, recorder } = this.#options;
    return new ShownTalk(window, policy.context, {
      languageOf: (identity) => peers.get(identity)?.language,
      onLeftOut: (summary) => recorder.keepSummary(summary),
    });
  }

  /** For a turn that replaces another one: goes back to what the model was shown before that one. */
  #replacing(input: TurnInput): Promise<NewTurn> | undefined {
    if ("turn" in input || !input.replaces) return undefined;
    const { position } = input.replaces;
    const { archive } = this.#options;
    return Promise.all([archive.windowBefore(position), archive.outcomesToldFrom(position)]).then(([window, told]) => {
      this.#shown = this.#showing(window);
      this.#summariser?.forget();
      return withOpening(input, told);
    });
  }

  #portsOf(begin: TurnInput, failure: AppError | undefined): Parameters<typeof runSessionTurn>[1] {
    const participant = participantOf(begin);
    const { policy, calls, worded, outbox, link, voice, recorder, peers, agents, spending, telemetry } = this.#options;
    const ownWords = wordsOf(begin);
    const language = peers.get(participant)?.language;
    const phrases = phrasesFor(language, policy.phrases);
    return {
      outbox,
      link,
      voice,
      recorder,
      shown: this.#shown,
      nextPosition: this.#lastPosition + 1,
      language,
      phrases: policy.phrases,
      telemetry,
      onInterrupted: () => this.#queue.abort("interrupted"),
      onAnswer: ({ id, messageId, parentMessageId: asked }, answer) =>
        (this.#running = { ids: [id, messageId, asked ?? ""], answer }),
      onAnswered: async (turn) => {
        for (const asking of worded) await asking.sayAgain(participant, turn);
        if (await spending.isWarningDue(participant)) await turn.aside?.(phrases.budgetLow, turn.signal);
        calls.endTurn();
      },
      dependencies: (turn) => ({
        model: agents?.current.model ?? policy.model,
        maxSteps: policy.maxSteps,
        ...this.#model.beginTurn(participant),
        ...(ownWords && { openStream: () => ownWords }),
        ...(failure && { openStream: () => throwIt(failure) }),
        ...calls.toolsOf(turn, "turn" in begin ? begin.calls : []),
      }),
      onEvent: (turn, event) => this.#options.tell({ type: "turn", turn, event }),
    };
  }
}

function throwIt(error: AppError): never {
  throw error;
}
