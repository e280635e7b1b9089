import type { TurnBlock } from "../../conversation/block.ts";
import type { Call, ExtraAnswer } from "../../conversation/call.ts";
import type { Media } from "../../conversation/content.ts";
import type { FieldChanges, StateChange } from "../../conversation/state/state-change.ts";
import type { Summary } from "../../conversation/summary.ts";
import type { AnswerProgress, ShownContext, TurnRecord, TurnState } from "../../conversation/turn-record.ts";
import type { Recorder } from "../../session/record/recorder.ts";
import type { ConversationArchive } from "../../session/record/conversation-archive.ts";
import type { MediaWithSource } from "../../store/media.ts";
import type { WaitingMessage } from "../../store/turns/waiting-messages.ts";
import type { NewTurnRow, SpeechEndRow, TurnEndRow } from "../../store/turns/write-turns.ts";

export interface MemoryTurn {
  readonly turn: TurnRecord;
  /** Milliseconds since the epoch. */
  readonly beganAt: number;
  readonly blocks: TurnBlock[];
  /** Set once the turn has ended. */
  state: TurnEndRow["state"] | undefined;
  lastStanza: number | undefined;
  heard: string | undefined;
  context: ShownContext | undefined;
  progress: AnswerProgress | undefined;
  /** Whether a later turn has replaced this turn. */
  isReplaced: boolean;
}

/** The recorder's public methods and fields. */
type RecorderCalls = Pick<Recorder, keyof Recorder>;

/** Stores in memory what a session records. Everything counts as durable at once. */
export class MemoryRecorder implements RecorderCalls {
  readonly turns = new Map<string, MemoryTurn>();
  /** The ids of messages that were stored before their turn. */
  readonly kept: string[] = [];
  readonly opened: Call[] = [];
  readonly settled: Call[] = [];
  readonly extras: ({ readonly callId: string } & ExtraAnswer)[] = [];
  /** The changes of the session's state that were not undone, oldest first. */
  #changes: StateChange[] = [];
  readonly #media = new Map<string, Media>();
  readonly #summaries = new Map<string, Summary>();
  readonly waitingBlocks = 0;

  /**
   * This object as a `Recorder`. Needs a cast because `Recorder` has private fields, which no other class can have.
   * Sessions do not use them.
   */
  get asRecorder(): Recorder {
    return this as RecorderCalls as Recorder;
  }

  beginTurn(
    turn: TurnRecord,
    { replaces, isSpoken = false, undone }: Pick<NewTurnRow, "replaces" | "isSpoken" | "undone"> = {},
  ): void {
    const from = this.turns.get(replaces ?? "")?.turn.position ?? Number.POSITIVE_INFINITY;
    const isUndone = (change: StateChange) => change.version <= (undone?.until ?? 0) && this.#isSince(change, from);
    this.#changes = this.#changes.filter((change) => !isUndone(change));
    for (const before of this.turns.values()) before.isReplaced ||= before.turn.position >= from;
    const open = { state: undefined, lastStanza: undefined, heard: undefined, context: undefined };
    const progress = { asides: 0, ...(isSpoken && { sent: 0, heard: 0 }) };
    this.turns.set(turn.id, {
      turn,
      beganAt: Date.now(),
      blocks: [...turn.blocks],
      ...open,
      progress,
      isReplaced: false,
    });
  }

  storeMessage({ id }: WaitingMessage): Promise<void> {
    this.kept.push(id);
    return Promise.resolve();
  }

  begun(): Promise<void> {
    return Promise.resolve();
  }

  comment(): Promise<void> {
    return Promise.resolve();
  }

  storeSummary(summary: Summary): void {
    this.#summaries.set(summary.id, summary);
  }

  storeContext(turnId: string, context: ShownContext): void {
    const turn = this.turns.get(turnId);
    if (turn) turn.context = context;
  }

  blocksOf(turnId: string) {
    return {
      add: (block: TurnBlock) => void this.turns.get(turnId)?.blocks.push(block),
      durable: () => this.durable(),
    };
  }

  finishTurn({ turnId, state, lastStanza, speech, context }: TurnEndRow): Promise<void> {
    const turn = this.turns.get(turnId);
    if (turn) Object.assign(turn, { state, lastStanza, heard: speech?.heard, context });
    return Promise.resolve();
  }

  finishSpeech({ turnId, heard, lastStanza }: SpeechEndRow): Promise<void> {
    const turn = this.turns.get(turnId);
    if (turn) Object.assign(turn, { heard, lastStanza });
    return Promise.resolve();
  }

  /** An archive that reads from `turns`. */
  get archive(): ConversationArchive {
    const history = () => [...this.turns.values()].filter((each) => each.state !== undefined && !each.isReplaced);
    return {
      find: async (id) => history().find(({ turn }) => turn.messageId === id || turn.parentMessageId === id)?.turn,
      has: async (id) => {
        const isCall = this.opened.some((call) => call.id === id);
        return (
          isCall || [...this.turns.values()].some(({ turn }) => [turn.messageId, turn.parentMessageId].includes(id))
        );
      },
      windowBefore: async (before = Number.POSITIVE_INFINITY, resumed?: ShownContext) => {
        const turns = history().filter(({ turn }) => turn.position < before);
        const context = resumed ?? turns.findLast((each) => each.context)?.context;
        const shown = turns.filter(({ turn }) => turn.position >= (context?.from ?? 0));
        return { turns: shown.map(toRecord), context, summary: this.#summaries.get(context?.summary ?? "") };
      },
      hasTurnsOf: async (identity) =>
        [...this.turns.values()].some(({ turn }) => turn.participantIdentity === identity),
      turnsBetween: async (after, before) =>
        history()
          .filter(({ turn: { position } }) => position > after && position < before)
          .map(toRecord),
      reportedOutcomes: async () => [],
      stateUndo: async (from) => {
        const changes = this.#changes.filter((change) => this.#isSince(change, from));
        const fields: FieldChanges = Object.fromEntries(
          changes.toReversed().flatMap((change) => Object.entries(change.fields)),
        );
        return { fields, until: changes.at(-1)?.version ?? 0 };
      },
      loadMedia: async (ids) => ids.flatMap((id) => this.#media.get(id) ?? []),
      answers: async ({ after, until, limit }) => {
        const isBetween = ({ lastStanza = 0 }: MemoryTurn) => lastStanza > after && lastStanza <= until;
        const answers = history().filter(isBetween).slice(-limit);
        return answers.map(({ turn: { messageId, parentMessageId }, blocks, lastStanza = null }) => {
          const texts = blocks.flatMap(({ blockType, textContent }) =>
            blockType === "text" ? (textContent ?? []) : [],
          );
          return { messageId, parentMessageId, texts, lastStanza };
        });
      },
    };
  }

  storeMedia({ media }: MediaWithSource): Promise<void> {
    for (const each of media) this.#media.set(each.id, each);
    return Promise.resolve();
  }

  onOpened(call: Call): void {
    this.opened.push(call);
  }

  onChanged(): void {}

  onSettled(call: Call, change?: StateChange): void {
    this.settled.push(call);
    if (change) this.storeStateChange(change);
  }

  storeStateChange(change: StateChange): void {
    this.#changes.push(change);
  }

  onExtraAnswer(callId: string, answer: ExtraAnswer): void {
    this.extras.push({ callId, ...answer });
  }

  storeProgress(turnId: string, progress: AnswerProgress): void {
    const turn = this.turns.get(turnId);
    if (turn) turn.progress = progress;
  }

  onProgress(): void {}

  /** Whether the change was made by a call or hook of a turn from this position on. */
  #isSince({ turnId }: StateChange, position: number): boolean {
    return (this.turns.get(turnId ?? "")?.turn.position ?? 0) >= position;
  }

  durable(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function toRecord({ turn, blocks, state, progress, heard, context }: MemoryTurn): TurnRecord {
  return { ...turn, blocks, state: state as TurnState, progress, heard, context };
}
