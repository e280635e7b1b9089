import { textsOf, type TurnBlock } from "../../conversation/block.ts";
import { endAfterAbort } from "../../conversation/turn-abort.ts";
import type { TurnTimings } from "../../conversation/turn-timings.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import { type AppError, type ErrorCode, toAppError } from "../../errors/app-error.ts";
import type { CallTurn, TurnSpeech } from "../../tool/calls/call-ports.ts";
import { isEndedBy, runTurn, type TurnDependencies } from "../../turn/run-turn.ts";
import { NO_USAGE } from "../../llm/model-event.ts";
import type { ContextWindow } from "../../turn/context-window.ts";
import type { TurnEvent } from "../../turn/turn-event.ts";
import { AnswerOutput } from "../answer/answer-output.ts";
import { postWhole } from "../answer/post-whole.ts";
import type { Outbox } from "../wire/outbox.ts";
import type { TurnSpoken } from "../events/session-event.ts";
import { type Phrases, type PhraseTable, phraseOfEnd, phrasesFor } from "../answer/phrases.ts";
import type { NewTurnRow, SpeechEnd, SpeechEndRow } from "../../store/turns/write-turns.ts";
import type { Recorder } from "../record/recorder.ts";
import type { RoomLink } from "../room/room-link.ts";
import { ModelWait } from "./model-wait.ts";
import { RunningTurn } from "./running-turn.ts";
import { speakEvent } from "./speak-event.ts";
import { createTurn } from "./create-turn.ts";
import type { TurnInput } from "./turn-queue.ts";
import type { VoicePort } from "../room/voice-port.ts";

/** What a turn needs from its session. */
export interface SessionTurnPorts {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly voice: VoicePort | undefined;
  /** Called when the participant speaks over the answer. The turn must then be aborted. */
  readonly onInterrupted: () => void;
  /** Passes on the turn, so that ControlStop can stop it or silence its answer, and an utterance can continue it. */
  readonly onAnswer: (turn: RunningTurn) => void;
  readonly recorder: Recorder;
  /** The session's state if the turn's replacement of others has undone changes of it. */
  readonly undone: NewTurnRow["undone"];
  /** The context window, without the turns that this one replaces. */
  readonly shown: ContextWindow;
  /** The turn's position in the session, counting replaced turns. */
  readonly nextPosition: number;
  /** BCP 47. The language of the participant whose turn it is. */
  readonly language: string | undefined;
  readonly phrases: PhraseTable | undefined;
  readonly telemetry: {
    /** Returns headers that add the client's spans about the answer to the turn's trace. */
    readonly traceOfTurn: () => Readonly<Record<string, string>>;
    readonly timesOfTurn: () => TurnTimings;
  };
  /** Called when the answer is complete, to repeat open questions to this participant. Never rejects. */
  readonly onAnswered: (turn: CallTurn) => Promise<void>;
  readonly dependencies: (turn: CallTurn) => Omit<TurnDependencies, "record" | "onShown">;
  readonly onEvent: (turn: TurnRecord, event: TurnEvent | TurnSpoken) => void;
}

type TurnComplete = Extract<TurnEvent, { readonly type: "turn_complete" }>;

/** A finished turn for the history, with its error for the log. */
export interface EndedTurn extends TurnRecord {
  readonly errorCode: ErrorCode | undefined;
  /** Why the turn failed. */
  readonly error: AppError | undefined;
}

/**
 * Runs one turn for a participant and stores it. Sends StartAnswer, the sentences and, if the turn fails, an
 * ErrorMessage. The turn ends when its answer is stored; the speech of the answer ends later. A resumed turn continues
 * its answer after the last stored block, under the same id. If a resumed turn has already ended, only the rest of its
 * answer is output.
 *
 * Resolves when the turn and the end of its speech are stored. Never rejects.
 */
export function runSessionTurn(begin: TurnInput, ports: SessionTurnPorts, signal: AbortSignal): Promise<EndedTurn> {
  return new SessionTurn(begin, ports, signal).run();
}

class SessionTurn {
  readonly #ports: SessionTurnPorts;
  readonly #signal: AbortSignal;
  readonly #turn: TurnRecord;
  readonly #answer: AnswerOutput;
  readonly #phrases: Phrases;
  readonly #callTurn: CallTurn;
  /** Set once the turn has begun. */
  #dependencies: TurnDependencies | undefined;
  /** The `previousId` of the StartAnswer. */
  readonly #previousId: string;
  readonly #announce: () => void;
  readonly #blocks: TurnBlock[];

  constructor(begin: TurnInput, ports: SessionTurnPorts, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
    const { recorder, shown, undone } = ports;
    const isNew = !("turn" in begin);
    const turn = isNew ? createTurn(begin, ports.nextPosition) : begin.turn;
    this.#turn = turn;
    this.#blocks = [...turn.blocks];
    this.#phrases = phrasesFor(ports.language, ports.phrases);
    const lastUserMessage = shown.turns.findLast(({ parentMessageId }) => parentMessageId !== null)?.parentMessageId;
    this.#previousId = turn.parentMessageId ?? lastUserMessage ?? turn.messageId;
    const { id: turnId, messageId, participantIdentity: participant } = turn;
    const answer = new AnswerOutput({
      ...ports,
      messageId,
      participant,
      earlier: isNew ? undefined : { texts: textsOf(turn.blocks), progress: turn.progress ?? { asides: 0 } },
      onProgress: (progress) => recorder.storeProgress(turnId, progress),
    });
    this.#answer = answer;
    const { replaces, isVariation } = isNew ? begin : {};
    if (isNew) recorder.beginTurn(turn, { replaces: replaces?.id, isVariation, isSpoken: answer.isSpoken, undone });
    this.#announce = this.#announcement(replaces?.messageId);
    // Clients stop resending a message when its StartAnswer arrives. So the StartAnswer is sent only once the turn is
    // stored, or when the first output arrives.
    void recorder.begun(turnId).then(this.#announce);
    if (!isNew) {
      this.#announce();
      answer.sayRest();
    }
    ports.onAnswer(new RunningTurn({ turn, answer, blocks: this.#blocks, spoken: isNew ? begin.spoken : undefined }));
    if (signal.aborted) answer.stop();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
    const speech = speechOf(answer, this.#phrases.notice);
    const aside = (text: string, cut: AbortSignal) => answer.aside(text, cut);
    this.#callTurn = { turnId, messageId, participant, signal, aside, ...(answer.isSpoken && { speech }) };
  }

  async run(): Promise<EndedTurn> {
    const { state } = this.#turn;
    return state === "running" ? this.#end(await this.#answerUntilEnd()) : this.#sayRest(state);
  }

  /** Never rejects: an error before the turn's end makes the turn fail. */
  async #answerUntilEnd(): Promise<TurnComplete> {
    const turn = this.#turn;
    try {
      const dependencies = this.#begin();
      const wait = new ModelWait(this.#answer, this.#blocks, this.#signal);
      for await (const event of runTurn({ shown: this.#ports.shown, turn }, dependencies, this.#signal)) {
        wait.handle(event);
        if (event.type === "turn_complete") return event;
        if (event.type !== "turn_start") this.#announce();
        if (event.type === "block_stop") this.#blocks.push(event.block);
        speakEvent(event, this.#answer);
        this.#ports.onEvent(turn, event);
      }
      throw new TypeError("A turn ended without turn_complete");
    } catch (error) {
      return {
        type: "turn_complete",
        state: "failed",
        error: toAppError(error),
        usage: NO_USAGE,
        stopReason: undefined,
      };
    }
  }

  #begin(): TurnDependencies {
    const { dependencies, recorder } = this.#ports;
    const { id: turnId } = this.#turn;
    return (this.#dependencies = {
      ...dependencies(this.#callTurn),
      record: recorder.blocksOf(turnId),
      onShown: (context) => recorder.storeContext(turnId, context),
    });
  }

  readonly #onAbort = () => this.#answer.stop();

  /** Whether any of the answer is spoken, by this worker or by an earlier one, even if the rest is only shown. */
  get #hasSpeech(): boolean {
    return this.#answer.isSpoken || this.#turn.progress?.sent !== undefined;
  }

  /** @param replacesId the id of the answer that this one replaces */
  #announcement(replacesId: string | undefined): () => void {
    const { outbox, telemetry } = this.#ports;
    const { messageId: id } = this.#turn;
    const place = { previousId: this.#previousId, ...(replacesId !== undefined && { replacesId }) };
    const answerType = this.#answer.isSpoken ? "text+voice" : "text";
    const meta = telemetry.traceOfTurn();
    let isAnnounced = false;
    return () => {
      if (!isAnnounced) outbox.post({ type: "start_answer", body: { id, ...place, answerType } }, { meta });
      isAnnounced = true;
    };
  }

  /** Finishes the speech of a turn that has already ended. */
  async #sayRest(state: SpeechEnd["state"]): Promise<EndedTurn> {
    const turn = this.#turn;
    // Called for its side effect: the tool that ended the turn may end the call after these words.
    if (state === "completed") isEndedBy(turn.blocks, this.#begin().tools);
    const spoken = await this.#sayLastWords(state);
    await this.#storeSpoken(spoken);
    this.#reportSpoken(spoken);
    return { ...turn, heard: spoken.heard, errorCode: undefined, error: undefined };
  }

  async #end(event: TurnComplete): Promise<EndedTurn> {
    const { telemetry } = this.#ports;
    this.#announce();
    // Send the error before the final sentence: clients that wait for that sentence must know by then how the turn
    // ended.
    if (event.error) this.#postError(event.error);
    const lastWords = phraseOfEnd(event, this.#blocks);
    if (lastWords) this.#answer.conclude(this.#phrases[lastWords]);
    const speaking = this.#sayLastWords(event.state);
    // Speech continues after the turn's end. An answer that is only shown, or was cut off, is complete by then.
    const isBehind = this.#answer.isSpoken && !this.#signal.aborted;
    const early = isBehind ? undefined : await speaking;
    const timings = telemetry.timesOfTurn();
    const lost = await this.#store(event, timings, early);
    if (lost && !event.error) this.#postError(lost);
    // Words are sent before they are stored, but the turn's end is reported only once it is stored.
    const ended = lost ? { ...event, state: "failed" as const, error: event.error ?? lost } : { ...event, timings };
    this.#ports.onEvent(this.#turn, { ...ended, isSpoken: this.#hasSpeech });
    const { state, heard } = await speaking;
    const said = isBehind ? telemetry.timesOfTurn() : timings;
    const spoken = { state: lost ? ended.state : state, heard, timings: said };
    if (isBehind) await this.#storeSpoken(spoken);
    if (this.#hasSpeech) this.#reportSpoken(spoken);
    const { error } = ended;
    return { ...this.#turn, state: ended.state, blocks: this.#blocks, heard, errorCode: error?.code, error };
  }

  /** Outputs the end of the answer and resolves when its speech has ended. */
  async #sayLastWords(state: SpeechEnd["state"]): Promise<SpeechEnd> {
    const { outbox, onAnswered } = this.#ports;
    const { messageId, blocks: begun } = this.#turn;
    const answer = this.#answer;
    const aside = (text: string, cut: AbortSignal) => {
      answer.flush();
      return answer.aside(text, cut);
    };
    if (state === "completed") await onAnswered({ ...this.#callTurn, aside });
    const { heard } = await answer.end();
    this.#signal.removeEventListener("abort", this.#onAbort);
    // The earlier worker may have died after storing sentences and before sending them, so send the whole answer again.
    const texts = textsOf(this.#blocks);
    if (textsOf(begun).length > 0) postWhole({ messageId, parentMessageId: this.#previousId, texts }, outbox);
    if (heard === undefined) return { state, heard };
    // The model had already finished when the speech of its last words was cut off.
    const isCutLater = state === "completed" && this.#signal.aborted;
    return {
      state: isCutLater ? endAfterAbort(this.#signal).state : state,
      heard: `${answer.playedBefore} ${heard}`.trim(),
    };
  }

  /** Stores the turn's end. Returns an error if something could not be stored. */
  async #store(event: TurnComplete, timings: TurnTimings, spoken?: SpeechEnd): Promise<AppError | undefined> {
    const { outbox, recorder, shown } = this.#ports;
    const { state, stopReason, error, usage } = event;
    try {
      await recorder.finishTurn({
        turnId: this.#turn.id,
        state,
        stopReason,
        errorCode: error?.code,
        errorMessage: error?.message,
        usage: { ...usage },
        model: event.model ?? this.#dependencies?.model,
        timings,
        context: shown.context,
        ...(spoken && { lastStanza: outbox.lastStanza }),
        ...(spoken && this.#hasSpeech && { speech: spoken }),
      });
      return undefined;
    } catch (lost) {
      return toAppError(lost);
    }
  }

  /** Stores the end of the speech. Ignores errors, which are already logged: the end must be reported in any case. */
  async #storeSpoken(end: Omit<SpeechEndRow, "turnId" | "lastStanza">): Promise<void> {
    const { outbox, recorder } = this.#ports;
    await recorder.finishSpeech({ turnId: this.#turn.id, ...end, lastStanza: outbox.lastStanza }).catch(() => {});
  }

  #reportSpoken(end: Omit<TurnSpoken, "type">): void {
    this.#ports.onEvent(this.#turn, { type: "turn_spoken", ...end });
  }

  #postError(error: AppError): void {
    const { participantIdentity, parentMessageId } = this.#turn;
    this.#ports.outbox.postError(error, participantIdentity, parentMessageId ?? undefined);
  }
}

function speechOf(answer: AnswerOutput, notice: string): TurnSpeech {
  return {
    untilPlayed: () => answer.untilPlayed(),
    filler: (text, cut) => answer.filler(text, cut),
    notice: (cut) => answer.filler(notice, cut),
  };
}
