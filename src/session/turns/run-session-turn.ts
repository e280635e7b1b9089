import type { Logger } from "pino";
import { ModelError } from "../../llm/model-error.ts";
import { textsOf, type TurnBlock } from "../../conversation/block.ts";
import { endAfterAbort } from "../../conversation/turn-abort.ts";
import type { TurnTimings } from "../../conversation/turn-timings.ts";
import type { ShownContext, TurnRecord } from "../../conversation/turn-record.ts";
import { type AppError, type ErrorCode, toAppError } from "../../errors/app-error.ts";
import { createId } from "../../lib/id.ts";
import type { CallTurn, TurnSpeech } from "../../tool/calls/call-ports.ts";
import { isEndedBy, runTurn, type TurnDependencies } from "../../turn/run-turn.ts";
import type { ShownTalk } from "../../turn/shown-talk.ts";
import type { TurnEvent } from "../../turn/turn-event.ts";
import { AnswerOutput } from "../answer/answer-output.ts";
import { postWhole } from "../answer/post-whole.ts";
import type { Outbox } from "../wire/outbox.ts";
import type { TurnSpoken } from "../events/session-event.ts";
import { type PhraseTable, spokenEnd, phrasesFor } from "../answer/phrases.ts";
import type { SpeechEnd, SpeechEndRow, TurnEndRow } from "../../store/turns/write-turns.ts";
import type { Recorder } from "../record/recorder.ts";
import type { RoomLink } from "../room/room-link.ts";
import type { NewTurn, TurnInput } from "./turn-queue.ts";
import type { VoicePort } from "../room/voice-port.ts";

/** What a turn needs of its session. */
export interface SessionTurnPorts {
  readonly outbox: Outbox;
  readonly link: Pick<RoomLink, "openTranscription">;
  readonly voice: VoicePort | undefined;
  /** Called when the participant speaks over the answer: the turn must be aborted. */
  readonly onInterrupted: () => void;
  /** Hands the turn's answer out: ControlStop may stop the turn, or silence the answer. */
  readonly onAnswer: (turn: TurnRecord, answer: Pick<AnswerOutput, "silence">) => void;
  readonly recorder: Recorder;
  /** What the model is shown of earlier turns, without turns that this one replaces. */
  readonly shown: ShownTalk;
  /** The turn's position in the session. Replaced turns count. */
  readonly nextPosition: number;
  /** BCP 47; the language of the participant whose turn it is. */
  readonly language: string | undefined;
  readonly phrases: PhraseTable | undefined;
  readonly telemetry: {
    /** Headers that make the client's spans about the answer part of the turn's trace. */
    readonly traceOfTurn: () => Readonly<Record<string, string>>;
    readonly timesOfTurn: () => TurnTimings;
  };
  /** Called when the answer is complete: open questions to this participant are said after it. Never rejects. */
  readonly onAnswered: (turn: CallTurn) => Promise<void>;
  readonly dependencies: (turn: CallTurn) => Omit<TurnDependencies, "record" | "onShown">;
  readonly onEvent: (turn: TurnRecord, event: TurnEvent | TurnSpoken) => void;
}

/** A turn for the history, and its error for the log. */
export interface EndedTurn extends TurnRecord {
  readonly errorCode: ErrorCode | undefined;
  /** Why it failed. */
  readonly error: AppError | undefined;
}

/**
 * Runs one turn for a participant: sends StartAnswer, the sentences, and an ErrorMessage if it failed, and stores it. The
 * turn ends when its answer is stored, and the answer's speech ends later. A turn that is taken up again is answered
 * under the same id, from its last stored block on; if it has ended, only the rest of its answer is said. Never rejects.
 * Resolves when the turn and the end of its speech are stored.
 */
export async function runSessionTurn(
  begin: TurnInput,
  ports: SessionTurnPorts,
  signal: AbortSignal,
): Promise<EndedTurn> {
  const { outbox, recorder, shown } = ports;
  const turn = "turn" in begin ? begin.turn : createTurn(begin, ports.nextPosition);
  const lastUserMessage = shown.turns.findLast(({ parentMessageId }) => parentMessageId !== null)?.parentMessageId;
  const { replaces, isVariation } = "turn" in begin ? {} : begin;
  const previousId = turn.parentMessageId ?? lastUserMessage ?? turn.id;
  const { id: turnId, messageId, participantIdentity: participant } = turn;
  const said = textsOf(turn.blocks);
  const answer = new AnswerOutput({
    ...ports,
    messageId,
    participant,
    earlier: "turn" in begin ? { texts: said, progress: turn.progress ?? { asides: 0 } } : undefined,
    onProgress: (progress) => recorder.keepProgress(turnId, progress),
  });
  const { isSpoken } = answer;
  // An answer whose rest is only shown has speech that ends, too.
  const hasSpeech = isSpoken || turn.progress?.sent !== undefined;
  if (!("turn" in begin)) recorder.beginTurn(turn, { replaces: replaces?.id, isVariation, isSpoken });
  const answerType = isSpoken ? "text+voice" : "text";
  const meta = ports.telemetry.traceOfTurn();
  const place = { previousId, ...(replaces && { replacesId: replaces.messageId }) };
  const announce = once(() =>
    outbox.post({ type: "start_answer", body: { id: messageId, ...place, answerType } }, { meta }),
  );
  // A client does not repeat a message after its StartAnswer, so this waits until the turn is stored or words come.
  void recorder.begun(turnId).then(announce);
  if ("turn" in begin) {
    announce();
    answer.sayRest();
  }
  ports.onAnswer(turn, answer);
  const onAbort = () => answer.stop();
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const phrases = phrasesFor(ports.language, ports.phrases);
  const aside = (text: string, cut: AbortSignal) => answer.aside(text, cut);
  const asideBehind = (...said: Parameters<typeof aside>) => {
    answer.flush();
    return aside(...said);
  };
  const speech: TurnSpeech = {
    untilHeard: () => answer.untilHeard(),
    filler: (text, cut) => answer.filler(text, cut),
    notice: (cut) => answer.filler(phrases.notice, cut),
  };
  const callTurn = { turnId, messageId, participant, signal, aside, ...(answer.isSpoken && { speech }) };
  const dependencies = {
    ...ports.dependencies(callTurn),
    record: recorder.blocksOf(turnId),
    onShown: (context: ShownContext) => recorder.keepContext(turnId, context),
  };
  const blocks: TurnBlock[] = [...turn.blocks];
  const sayLastWords = async (state: SpeechEnd["state"]): Promise<SpeechEnd> => {
    if (state === "completed") await ports.onAnswered({ ...callTurn, aside: asideBehind });
    const { heard } = await answer.end();
    signal.removeEventListener("abort", onAbort);
    // The earlier worker may have died after it stored sentences, and before it sent them.
    if (said.length > 0) postWhole({ messageId, parentMessageId: previousId, texts: textsOf(blocks) }, outbox);
    if (heard === undefined) return { state, heard };
    // The model had already ended when the speech of its last words was cut off.
    const isCutLater = state === "completed" && signal.aborted;
    return { state: isCutLater ? endAfterAbort(signal).state : state, heard: `${answer.heardBefore} ${heard}`.trim() };
  };
  const tellSpoken = (end: Omit<TurnSpoken, "type">) => ports.onEvent(turn, { type: "turn_spoken", ...end });
  // A failure has been logged. Whoever waits for the end of the speech is told of it all the same.
  const storeSpoken = (end: Omit<SpeechEndRow, "turnId" | "lastStanza">) =>
    recorder.finishSpeech({ turnId, ...end, lastStanza: outbox.lastStanza }).catch(() => {});
  if (turn.state !== "running") {
    // The tool that ended the turn may end the call once these words have been heard.
    if (turn.state === "completed") isEndedBy(turn.blocks, dependencies.tools);
    const spoken = await sayLastWords(turn.state);
    await storeSpoken(spoken);
    tellSpoken(spoken);
    return { ...turn, heard: spoken.heard, errorCode: undefined, error: undefined };
  }
  for await (const event of runTurn({ shown, turn }, dependencies, signal)) {
    if (event.type !== "turn_start") announce();
    if (event.type === "block_stop") blocks.push(event.block);
    // Before the final sentence, because a client that waits for that one must know by then how the turn ended.
    const failure = event.type === "turn_complete" ? event.error : undefined;
    if (failure) outbox.postError(failure, participant, turn.parentMessageId ?? undefined);
    speak(event, answer);
    const end = event.type === "turn_complete" ? spokenEnd(event, blocks) : undefined;
    if (end) answer.conclude(phrases[end.phrase], end);
    if (event.type !== "turn_complete") {
      ports.onEvent(turn, event);
      continue;
    }
    const speaking = sayLastWords(event.state);
    // Speech goes on after the turn's end. An answer that is only shown, or was cut off, has been said by then.
    const isBehind = isSpoken && !signal.aborted;
    const early = isBehind ? undefined : await speaking;
    const timings = ports.telemetry.timesOfTurn();
    const finished = {
      event,
      model: dependencies.model,
      timings,
      ...(!isBehind && { lastStanza: outbox.lastStanza }),
      ...(hasSpeech && early && { speech: early }),
      context: shown.context,
    };
    const lost = await finish(turnId, finished, recorder);
    if (lost && !failure) outbox.postError(lost, participant, turn.parentMessageId ?? undefined);
    // Words are sent before they are stored, but the turn's end only when it is stored.
    const told = lost ? { ...event, state: "failed" as const, error: failure ?? lost } : { ...event, timings };
    ports.onEvent(turn, { ...told, isSpoken: hasSpeech });
    const { state, heard } = await speaking;
    const spoken = {
      state: lost ? told.state : state,
      heard,
      timings: isBehind ? ports.telemetry.timesOfTurn() : timings,
    };
    if (isBehind) await storeSpoken(spoken);
    if (hasSpeech) tellSpoken(spoken);
    return { ...turn, state: told.state, blocks, heard, errorCode: told.error?.code, error: told.error };
  }
  throw new TypeError("A turn ended without turn_complete");
}

/** A turn that failed is a warning, with what the model's API said of the account or the model. */
export function logTurnEnd(logger: Logger, turn: EndedTurn, ms: number): void {
  const { id: turnId, state, blocks, errorCode, error } = turn;
  const line = { turnId, state, errorCode, blocks: blocks.length, ms };
  if (state !== "failed") return logger.info(line, "turn ended");
  const { requestId, apiMessage } = error instanceof ModelError ? error : {};
  logger.warn({ ...line, requestId, apiMessage, error }, "turn ended");
}

/** A new turn, of which nothing is stored yet. */
export function createTurn({ participant, messageId, input, opening = [] }: NewTurn, position: number): TurnRecord {
  return {
    id: createId(),
    position,
    participantIdentity: participant,
    parentMessageId: messageId,
    messageId: createId(),
    input,
    state: "running",
    blocks: opening,
  };
}

/** Says text blocks alone, because the text of a tool result is not the assistant's. */
function speak(event: TurnEvent, answer: AnswerOutput): void {
  switch (event.type) {
    case "block_delta":
      if (event.delta.type === "text") answer.write(event.delta.text);
      return;
    case "block_start":
      return answer.flush();
    default:
  }
}

interface Finish {
  readonly event: Extract<TurnEvent, { type: "turn_complete" }>;
  readonly model: string;
  readonly timings: TurnTimings;
  readonly lastStanza?: number;
  readonly speech?: TurnEndRow["speech"];
  readonly context: ShownContext;
}

/** Stores the turn's end. Returns the error if something could not be stored. */
async function finish(turnId: string, { event, ...end }: Finish, recorder: Recorder): Promise<AppError | undefined> {
  const { state, stopReason, error, usage } = event;
  const failure = { errorCode: error?.code, errorMessage: error?.message };
  try {
    await recorder.finishTurn({ turnId, state, stopReason, ...failure, usage: { ...usage }, ...end });
    return undefined;
  } catch (lost) {
    return toAppError(lost);
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}
