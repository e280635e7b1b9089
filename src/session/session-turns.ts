import type { SessionAgents } from "./agent/session-agents.ts";
import type { SessionCalls } from "./calls/session-calls.ts";
import type { Configurations } from "./participants/configurations.ts";
import type { PermissionDesk } from "./permission/permission-desk.ts";
import type { SessionMedia } from "./record/session-media.ts";
import type { Restored } from "./restore/restore.ts";
import { Summarizer, type SummaryModel } from "./context/summarizer.ts";
import { phrasesFor } from "./answer/phrases.ts";
import type { UserTurnHook } from "./hooks/user-turn-hook.ts";
import type { Spending } from "./spending/spending.ts";
import { AppError, raise, toAppError } from "../errors/app-error.ts";
import { abortable } from "../lib/abortable.ts";
import { createId } from "../lib/id.ts";
import { ContextWindow, type Window } from "../turn/context-window.ts";
import { LateOutcomes } from "./turns/late-outcomes.ts";
import { withOpening, withOutcomes, type LateOutcome } from "./turns/outcome-turn.ts";
import { fixedAnswerOf } from "./turns/fixed-answer.ts";
import { TurnYielder } from "./turns/turn-yielder.ts";
import { createTurn } from "./turns/create-turn.ts";
import { logTurnEnd } from "./turns/log-turn-end.ts";
import type { RunningTurn } from "./turns/running-turn.ts";
import { runSessionTurn, type EndedTurn } from "./turns/session-turn.ts";
import { ModelCalls, type ModelCallsOptions } from "./model/model-calls.ts";
import { inheritedPart, isInterruptible, messageOf, participantOf, TurnQueue } from "./turns/turn-queue.ts";
import type { NewTurn, TurnInput, UnfinishedTurn, VariationRequest } from "./turns/turn-queue.ts";
import { SenderLabels } from "./turns/sender-labels.ts";
import { addVariation, readReplaced, takeVariation } from "./turns/variation.ts";
import type { SessionCore } from "./session-core.ts";

interface SessionTurnsOptions
  extends
    Omit<SessionCore, "sessionId" | "room" | "roomSid" | "serverTools">,
    Pick<ModelCallsOptions, "openStream" | "countTokens" | "answers"> {
  readonly restored: Pick<Restored, "window" | "lastPosition">;
  /** @defaultValue one agent, whose instructions do not change */
  readonly agents?: SessionAgents | undefined;
  /** Summarizes older turns. @defaultValue no summaries are written */
  readonly summaryModel?: SummaryModel | undefined;
  readonly calls: SessionCalls;
  /** The parts of the session that ask participants questions in words. */
  readonly worded: readonly Pick<PermissionDesk, "sayAgain" | "isAnyAwaited">[];
  readonly configurations: Pick<Configurations, "untilAnnounced">;
  readonly userTurns: Pick<UserTurnHook, "prepare" | "prepareEarly" | "drop">;
  readonly media: Pick<SessionMedia, "of">;
  readonly spending: Pick<Spending, "warn" | "limited">;
}

/** How long Anthropic caches a prompt after its last use. */
const CACHE_LASTS_MS = 5 * 60_000;

/** Runs a session's turns one after another, stops them, and holds the context that the next turn continues from. */
export class SessionTurns {
  readonly #options: Omit<SessionTurnsOptions, "restored">;
  readonly #queue = new TurnQueue(
    (input, signal) => this.#run(input, signal),
    () => void this.#lateOutcomes.speak(),
  );
  readonly #lateOutcomes: LateOutcomes;
  readonly #senderLabels: SenderLabels | undefined;
  #shown: ContextWindow;
  readonly #summarizer: Summarizer | undefined;
  readonly #model: ModelCalls;
  /** When the last turn ended, by `performance.now()`. */
  #lastEnd = performance.now();
  readonly #yielder: TurnYielder;
  /** The position of the newest turn, including replaced ones. */
  #lastPosition: number;
  #running: RunningTurn | undefined;

  constructor({ restored, ...options }: SessionTurnsOptions) {
    this.#options = options;
    const { summaryModel: model, logger, policy, agents, participants, voice, archive } = options;
    this.#summarizer = model && new Summarizer({ model, archive, budgetTokens: policy.context.budgetTokens, logger });
    this.#model = new ModelCalls(options, () => this.#shown);
    this.#shown = this.#showing(restored.window);
    this.#senderLabels = agents && new SenderLabels({ agents, participants });
    this.#lastPosition = restored.lastPosition;
    this.#yielder = new TurnYielder({ queue: this.#queue, calls: options.calls, turnId: () => this.#running?.ids[0] });
    this.#lateOutcomes = new LateOutcomes({
      isPause: () => this.#queue.isOpen && !participants.isEmpty,
      untilQuiet: async (signal) => voice?.untilQuiet(signal),
      begin: (turn) => this.#queue.add(turn),
    });
  }

  /** Whether no turn is running or about to run. */
  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  /** Starts no more turns, because another worker will run them. */
  hold(): void {
    this.#queue.hold();
  }

  /**
   * Queues a turn.
   *
   * @param interrupts whether to stop the running turn regardless of the policy, unless a tool blocks interruption
   * @throws {AppError} `queue_overflow`, `unavailable`
   */
  add(turn: NewTurn | VariationRequest, { interrupts = false } = {}): void {
    const isCut = (interrupts || this.#options.policy.onNewMessage === "interrupt") && !this.#options.calls.isBlocking;
    // The turn that waits may be a continuation itself, which this one would replace.
    const mayContinue = isCut && !("variation" in turn) && !this.#queue.hasWaiting;
    const continued = mayContinue ? this.#running?.continuedBy(turn) : undefined;
    if (isCut) this.#queue.abort("interrupted");
    this.#queue.add(continued ?? turn);
    this.yieldIfBlocking();
  }

  /**
   * Queues a variation. Resolves once it is accepted, or refused with an ErrorMessage.
   *
   * @throws {AppError} `queue_overflow`, `unavailable`
   */
  vary(request: Omit<VariationRequest, "refused">): Promise<void> {
    const isOpen = (id: string) => this.#running?.ids.includes(id) === true || this.#queue.hasMessage(id);
    return addVariation(request, { ...this.#options, isOpen, add: (asked) => this.add(asked) });
  }

  /**
   * Starts preemptive generation for what a participant has said so far. If the finished utterance leads to the same
   * request, the utterance's turn uses the answer generated here. Never rejects.
   */
  async speculate(participant: string, text: string): Promise<void> {
    // Words that may answer a question do not begin a turn.
    const isAsked = this.#options.worded.some((asking) => asking.isAnyAwaited(participant));
    if (!this.#queue.isOpen || text.trim() === "" || isAsked) return;
    // With several participants, a message is shown to the model in another form (`SenderLabels`) and may get no
    // answer, so a preemptive call would be wasted.
    if (this.#senderLabels && this.#options.participants.present.length > 1) return;
    const said = { participant, messageId: createId(), input: [{ type: "text", text }] } as const;
    const early = this.#options.userTurns.prepareEarly(said);
    const turn = early instanceof Promise ? await early : early;
    if (turn) await this.#model.speculate(createTurn(turn, this.#lastPosition + 1), () => this.#queue.isOpen);
  }

  /** Drops the preemptive answer, because the utterance answered a question and begins no turn. */
  dropSpeculation(): void {
    this.#options.userTurns.drop();
    this.#model.drop();
  }

  /**
   * Resumes the turn that an earlier worker left unfinished. Call this before any `add`, because this turn comes first.
   */
  resume(unfinished: UnfinishedTurn): void {
    this.#queue.add(unfinished);
  }

  /** Call this whenever the running turn may have started to hold up other participants' turns. */
  yieldIfBlocking(): void {
    this.#yielder.check();
  }

  /**
   * Stops the running turn, or only its speech.
   *
   * @returns `false` if `targetId` refers to anything else, in which case nothing is stopped
   */
  stop(targetId: string | undefined, what: "generation" | "speech" | "all"): boolean {
    if (targetId !== undefined && !this.#running?.ids.includes(targetId)) return false;
    if (what === "speech") this.#running?.answer.silence();
    else this.#queue.abort("stopped");
    return true;
  }

  /** Adds the outcome of a call for which the model has received only a receipt. */
  addOutcome(outcome: LateOutcome): void {
    this.#lateOutcomes.add(outcome);
  }

  /** Replaces ended turns with this summary in the context window, even for the running turn. */
  replaceWithSummary(summary: string): void {
    this.#shown.replaceWithSummary(summary);
    this.#summarizer?.discard();
  }

  /** Begins a turn about a pending outcome, if there is a pause. Call this when a participant has joined. */
  speakOutcomes(): void {
    void this.#lateOutcomes.speak();
  }

  /**
   * Starts no more turns, and lets the running one finish for up to `graceMs`. Queued messages are left to the next
   * worker. Queued variations are rejected and may be sent again.
   */
  async close(graceMs: number): Promise<void> {
    this.#lateOutcomes.close();
    this.#summarizer?.close();
    this.#yielder.close();
    this.#model.drop();
    for (const { from, id, why } of this.#queue.shut()) this.#options.outbox.postError(why, from, id);
    await this.#queue.close(graceMs, () => this.#options.calls.isOnlyWaitingToStart(this.#running?.ids[0]));
  }

  /** Runs a turn. If the turn throws, its sender gets an ErrorMessage, and the next turn runs. Never rejects. */
  async #run(input: TurnInput | VariationRequest, signal: AbortSignal): Promise<void> {
    const { outbox, archive, logger } = this.#options;
    // From now on, an utterance cannot continue the previous turn: this turn would be replaced with it.
    this.#running = undefined;
    try {
      if ("isStale" in input && input.isStale?.()) return;
      const asked = "variation" in input ? await takeVariation(input, archive) : input;
      if (asked) await this.#runTurn(asked, signal);
    } catch (error) {
      if (!(error instanceof AppError)) logger.error({ error }, "turn failed unexpectedly");
      outbox.postError(error, participantOf(input), messageOf(input));
    }
  }

  async #runTurn(asked: TurnInput, signal: AbortSignal): Promise<void> {
    const { logger, telemetry, configurations, userTurns, agents } = this.#options;
    let begin = asked;
    let failure: AppError | undefined;
    try {
      this.#summarizer?.postpone();
      const preparing = agents?.prepare();
      // If the turn is aborted, this wait ends at once.
      if (preparing) await abortable(preparing, signal).catch(() => {});
      const prepared = userTurns.prepare(asked, signal);
      // Awaited only if it is a promise, because the turn must be stored before the messages queued behind it.
      const input = prepared instanceof Promise ? await prepared : prepared;
      const replacing = this.#replacing(input);
      begin = this.#prepare(replacing ? await replacing : input);
      const inherited = inheritedPart(begin);
      if (inherited) await configurations.untilAnnounced(inherited, signal);
    } catch (error) {
      // If the turn was to replace an answer, that answer is kept.
      if ("replaces" in asked && asked.replaces) throw error;
      failure = toAppError(error);
    }
    const answer = () => this.#answerTurn(begin, signal, failure);
    // The turn has already ended. Only the rest of its answer is spoken.
    if ("turn" in begin && begin.turn.state !== "running") return void (await answer());
    const startedAt = performance.now();
    const { meta, spoken } = "turn" in begin ? {} : begin;
    await telemetry.turn({ participant: participantOf(begin), meta, spoken, agent: agents?.named }, async () => {
      const turn = await answer();
      logTurnEnd(logger, turn, Math.round(performance.now() - startedAt));
      return turn;
    });
  }

  /** @param failure why preparing the turn failed. The turn runs anyway, so that the failure is sent and stored */
  async #answerTurn(begin: TurnInput, signal: AbortSignal, failure: AppError | undefined): Promise<EndedTurn> {
    this.#options.calls.setTurnInterruptible(isInterruptible(begin));
    const turn = await runSessionTurn(begin, this.#portsOf(begin, failure), signal);
    this.#options.calls.setTurnInterruptible(true);
    this.#running?.end(turn);
    this.#shown.add(turn);
    this.#lastEnd = performance.now();
    this.#summarizer?.consider(this.#shown);
    this.#lastPosition = turn.position;
    return turn;
  }

  /**
   * Prepares the context window for a turn. If the turn answers a message, adds notes for the model (`SenderLabels`)
   * and the late outcomes of the participant's calls.
   */
  #prepare(begin: TurnInput): TurnInput {
    if ("turn" in begin) {
      this.#shown.resume(begin.turn);
      // A resumed turn keeps its context, because its thinking blocks depend on it.
      if (begin.turn.blocks.length > 0) return begin;
    }
    this.#shown.makeRoom({
      written: this.#summarizer?.latest,
      isWriting: this.#summarizer?.isAble ?? false,
      isCold: performance.now() - this.#lastEnd > CACHE_LASTS_MS,
    });
    if ("turn" in begin || begin.messageId === null) return begin;
    const annotated = this.#senderLabels?.annotate(begin, this.#shown.turns) ?? begin;
    // A turn with a fixed answer gets no outcomes: the model is not called, so it could not report them.
    return fixedAnswerOf(annotated) ? annotated : withOutcomes(annotated, this.#lateOutcomes.take(begin.participant));
  }

  #showing(window: Window): ContextWindow {
    const { policy, participants, recorder } = this.#options;
    return new ContextWindow(window, policy.context, {
      languageOf: (identity) => participants.get(identity)?.language,
      onDropped: (summary) => recorder.storeSummary(summary),
    });
  }

  /** If the turn replaces another one, restores the context window from before the replaced turn. */
  #replacing(input: TurnInput): Promise<NewTurn> | undefined {
    if ("turn" in input || !input.replaces) return undefined;
    return readReplaced(this.#options.archive, input.replaces.position).then(({ window, late, undo }) => {
      this.#shown = this.#showing(window);
      this.#summarizer?.discard();
      return withOpening({ ...input, undo }, late);
    });
  }

  #portsOf(begin: TurnInput, failure: AppError | undefined): Parameters<typeof runSessionTurn>[1] {
    const participant = participantOf(begin);
    const { policy, calls, worded, outbox, link, voice, recorder, agents, spending, telemetry } = this.#options;
    const ownWords = fixedAnswerOf(begin);
    const state = this.#options.participants.get(participant);
    const { budgetLow } = phrasesFor(state?.language, policy.phrases);
    return {
      outbox,
      link,
      voice,
      recorder,
      undone: "undo" in begin ? this.#options.state.undo(begin.undo) : undefined,
      shown: this.#shown,
      nextPosition: this.#lastPosition + 1,
      language: state?.language,
      phrases: policy.phrases,
      telemetry,
      onInterrupted: () => this.#queue.abort("interrupted"),
      onAnswer: (running) => (this.#running = running),
      onAnswered: async (turn) => {
        for (const asking of worded) await asking.sayAgain(participant, turn);
        await spending.warn(participant, () => (state?.isPresent ? turn.aside?.(budgetLow, turn.signal) : undefined));
        calls.endTurn();
      },
      dependencies: (turn) => ({
        model: agents?.current.model ?? policy.model,
        maxSteps: policy.maxSteps,
        ...this.#model.beginTurn(participant),
        ...(ownWords && { openStream: () => ownWords }),
        ...(failure && { openStream: () => raise(failure) }),
        ...calls.toolsOf(turn, "turn" in begin ? begin.calls : []),
      }),
      onEvent: (turn, event) => this.#options.emit({ type: "turn", turn, event }),
    };
  }
}
