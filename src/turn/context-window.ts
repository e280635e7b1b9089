import { isCompaction } from "../conversation/block.ts";
import { buildHistory, type HistoryMessage } from "../conversation/history.ts";
import {
  beginOfLastResults,
  endOf,
  largePlaces,
  placeOfMedia,
  shortenTurn,
  showsMedia,
  withoutUnanswered,
} from "../conversation/shorten.ts";
import {
  byteLength,
  isBefore,
  isThinking,
  START,
  announcedBytes,
  turnBytes,
  turnsBytes,
  withoutThinking,
} from "../conversation/shown-context.ts";
import { prefaceOf, type SummaryText, type Summary } from "../conversation/summary.ts";
import { KnownTools } from "../conversation/tool-changes.ts";
import type { BlockPlace, ShownContext, ToolChange, TurnRecord } from "../conversation/turn-record.ts";
import { AppError } from "../errors/app-error.ts";
import { createId } from "../lib/id.ts";
import { summarizeDroppedTurns, NO_PORTS, type DroppedTurnsPorts } from "./summarize-dropped-turns.ts";
import { fitsAlone, type ContextLimits, type Moment, type NextCall } from "./next-call.ts";
import { TokenGauge } from "./token-gauge.ts";

/** The most recent finished turns, and the context that the model was shown with the last of them. */
export interface Window {
  readonly turns: readonly TurnRecord[];
  readonly context: ShownContext | undefined;
  /** The summary that replaces all earlier turns. */
  readonly summary?: Summary | undefined;
}

/**
 * The share of the budget that remains after turns are dropped. Dropping many turns at once, but rarely, preserves the
 * prompt cache.
 */
const KEPT_SHARE = 0.5;
/** The factor by which past turns may exceed the budget while they are being summarized. */
const PATIENCE = 1.5;
/** The number of recent turns whose results are kept in full if they fit. */
const WHOLE_TURNS = 2;
/**
 * The most bytes that the finished turns may have, per token of the hard limit. Limits memory use if an API reports
 * wrong token counts: real text has fewer bytes per token.
 */
const MAX_BYTES_A_TOKEN = 12;
/** The assumed tokens per byte until the API has counted a request. */
const USUAL_RATE = 1 / 3;

/**
 * The part of the conversation sent to the model: the most recent finished turns plus the running one. Turns are
 * dropped whole, oldest first, and never come back. Large results, even of the running turn, may be replaced by
 * placeholders. Unless something is dropped or replaced, which is rare, each request only adds to the end of the
 * previous one.
 */
export class ContextWindow {
  readonly #limits: ContextLimits;
  #gauge = new TokenGauge(undefined);
  readonly #ports: DroppedTurnsPorts;
  #summary: Summary | undefined;
  #turns: readonly TurnRecord[] = [];
  #shortened: BlockPlace = START;
  #thinkingFrom: BlockPlace = START;
  #from = 1;
  /** Tool changes announced in the running turn. */
  #announced: readonly ToolChange[] = [];
  #hasChanged = false;

  constructor(window: Window, limits: ContextLimits, ports: DroppedTurnsPorts = NO_PORTS) {
    this.#limits = limits;
    this.#ports = ports;
    this.restore(window);
  }

  /** Resets the window, for example if a request was rejected even after turns were dropped. */
  restore({ turns, context, summary }: Window): void {
    this.#summary = summary;
    this.#gauge = new TokenGauge(context?.measured);
    this.#from = context?.from ?? turns[0]?.position ?? 1;
    this.#shortened = context?.shortened ?? START;
    this.#thinkingFrom = context?.thinking ?? START;
    this.#turns = turns.map((turn) => this.#shorten(withoutUnanswered(turn)));
    this.#hasChanged = false;
  }

  /** The finished turns in the window, oldest first. */
  get turns(): readonly TurnRecord[] {
    return this.#turns;
  }

  /** Whether part of the conversation was dropped or shortened. */
  get isCompacted(): boolean {
    return this.#from > 1 || isBefore(START, this.#shortened);
  }

  /** Returns the context to store with a turn, so that the next worker shows the model the same history. */
  get context(): ShownContext {
    const { measured } = this.#gauge;
    const isShortened = isBefore(START, this.#shortened);
    return {
      from: this.#from,
      ...(isShortened && { shortened: this.#shortened }),
      ...(isBefore(START, this.#thinkingFrom) && { thinking: this.#thinkingFrom }),
      ...(this.#summary && { summary: this.#summary.id }),
      ...(measured && { measured }),
      ...(this.#announced.length > 0 && { tools: this.#announced }),
    };
  }

  /**
   * Returns the context if it has changed since the previous turn and is not stored yet, and otherwise `undefined`. The
   * caller must store it at once.
   */
  takeChange(): ShownContext | undefined {
    const change = this.#hasChanged ? this.context : undefined;
    this.#hasChanged = false;
    return change;
  }

  /** The summary that replaces the dropped turns. */
  get summary(): Summary | undefined {
    return this.#summary;
  }

  /** Returns the turns in the window after a position, excluding the most recent ones that fit in `without` tokens. */
  turnsAfter(position: number, { without }: { readonly without: number }): readonly TurnRecord[] {
    const bytesWith = this.#weigh();
    const isOlder = (turn: TurnRecord) => bytesWith(turn) * (this.#gauge.rate ?? 0) > without;
    const end = this.#turns.findLastIndex(isOlder) + 1;
    return this.#turns.slice(0, end).filter((turn) => turn.position > position);
  }

  /** Returns the estimated tokens of these turns, based on the API's last count. */
  tokensOf(turns: readonly TurnRecord[]): number {
    const bytesWith = this.#weigh();
    return (this.#gauge.rate ?? 0) * turns.reduce((_, turn) => bytesWith(turn), 0);
  }

  /** Adds a finished turn. */
  add(turn: TurnRecord): void {
    this.#turns = [...this.#turns, this.#shorten({ ...withoutUnanswered(turn), context: this.context })];
    [this.#announced, this.#hasChanged] = [[], false];
    // The API ignores everything before a compaction block.
    if (turn.blocks.some(isCompaction)) this.#summarizeDroppedTurns(this.#turns.length - 1);
  }

  /** Restores the tool changes that an earlier worker announced in this turn. Call this before continuing the turn. */
  resume({ context }: TurnRecord): void {
    this.#announced = context?.tools ?? [];
  }

  /** Removes a tool from the announcements of the running turn, because the API rejected it. */
  withdraw(name: string): void {
    this.#hasChanged = true;
    const without = (change: ToolChange) => ({ ...change, added: change.added.filter((tool) => tool.name !== name) });
    this.#announced = this.#announced.map(without);
  }

  /**
   * Makes room before a turn begins. If past turns exceed the budget, drops enough of them to stay within the budget
   * for a while, starting with those that `written` covers. If the prompt cache has expired anyway, drops the
   * covered turns even within the budget.
   */
  makeRoom({ written, isWriting = false, isCold = false }: Moment = {}): void {
    const { budgetTokens, hardTokens } = this.#limits;
    const isOver = (share = 1) => {
      const isTooLarge = turnsBytes(this.#turns) > hardTokens * MAX_BYTES_A_TOKEN;
      const atMost = turnsBytes(this.#turns) * (this.#gauge.rate ?? 0);
      return isTooLarge || (atMost > budgetTokens * share && this.tokensOf(this.#turns) > budgetTokens * share);
    };
    const covered = written ? this.#turns.findLastIndex(({ position }) => position <= written.textTo) + 1 : 0;
    if (covered > 0 && (isOver() || isCold))
      this.#summarizeDroppedTurns(Math.min(covered, this.#turns.length - 1), written);
    if (!isOver(isWriting ? PATIENCE : 1)) return;
    const firstWhole = this.#turns.at(-WHOLE_TURNS);
    if (firstWhole) this.#shortenBefore({ position: firstWhole.position, sequence: 0 });
    this.#evictOldest(budgetTokens * KEPT_SHARE, written);
  }

  /**
   * Returns the history for the next model call. Drops turns and shortens results until the request has at most
   * `hardTokens`. Estimates its size as the API's count of an earlier call plus one token per byte added since. If the
   * estimate is too large, asks the API to count.
   *
   * @throws {AppError} `too_large` when the running turn alone is too long
   */
  async fit(next: NextCall): Promise<readonly HistoryMessage[]> {
    const { turn, isPaused, overheadFor, count } = next;
    const { hardTokens, inlineTools: announcesTools = false } = this.#limits;
    const mediaFrom = placeOfMedia([...this.#turns, this.#shorten(turn)]);
    if (mediaFrom) this.#shortenBefore(mediaFrom, turn);
    let canFitAlone = false;
    for (;;) {
      if (announcesTools && !isPaused) this.#announceTools(next);
      const shown = this.#shorten({ ...turn, context: this.context });
      const overhead = overheadFor({ isCompacted: this.isCompacted });
      const preface = this.#summary ? prefaceOf(this.#summary) : "";
      const bytes = turnsBytes(this.#turns) + turnBytes(shown) + overhead.bytes + byteLength(preface);
      const history = buildHistory([...this.#turns, shown], { isPaused, preface, announcesTools });
      if (this.#gauge.atMost(bytes, overhead) <= hardTokens) return history;
      const tokens = await count(history);
      if (tokens !== undefined) this.#gauge.count(tokens);
      if (tokens !== undefined && tokens <= hardTokens) return history;
      // Check this before dropping anything: a message that will be rejected must not remove the conversation before
      // it.
      canFitAlone ||= this.#turns.length === 0 || (await fitsAlone(next, overhead, this.#limits));
      if (!canFitAlone || !this.#reduce(turn)) throw new AppError("too_large", "The message is too long for the model");
    }
  }

  /** Records the API's token count of the request that `fit` last built. */
  measure(tokens: number): void {
    this.#gauge.count(tokens);
  }

  /** Drops all finished turns. The text replaces them and the text of any earlier summary. */
  replaceWithSummary(text: string): void {
    const [known, first, last] = [this.#summary, this.#turns[0], this.#turns.at(-1)];
    const textFrom = known?.text ? known.textFrom : (first?.position ?? known?.to ?? 0);
    const written = { text, textFrom, model: null, usage: null };
    if (last) return this.#summarizeDroppedTurns(this.#turns.length, { ...written, textTo: last.position });
    if (!known) return;
    this.#summary = { ...known, ...written, id: createId() };
    this.#ports.onDropped(this.#summary);
    this.#dropThinkingBefore(this.#afterPast());
  }

  /**
   * Call this when the API found the last request too long. Drops the older half of the finished turns or, if there are
   * none, shortens the running turn. Returns `false` if nothing is left to drop.
   */
  shorten(running: TurnRecord): boolean {
    if (this.#turns.length === 0) return this.#reduce(running);
    this.#summarizeDroppedTurns(Math.ceil(this.#turns.length / 2));
    return true;
  }

  /**
   * Call this when the API rejected a request, perhaps for a picture or document. Replaces all media and large results
   * so far by placeholders. Returns `false` if no media are shown.
   */
  dropMedia(running: TurnRecord): boolean {
    return showsMedia([...this.#turns, this.#shorten(running)]) && this.#shortenBefore(endOf(running), running);
  }

  /** Announces tool changes since the last call. Changes that dropped turns had announced are announced again. */
  #announceTools({ turn, temporaryTools = [] }: NextCall): void {
    const known = KnownTools.after([...this.#turns, { ...turn, context: this.context }]);
    const change = known.changeTo(temporaryTools, (turn.blocks.at(-1)?.sequence ?? -1) + 1);
    if (!change) return;
    this.#announced = [...this.#announced, change];
    this.#hasChanged = true;
  }

  /**
   * Call this when the API rejected thinking because something before it has changed. Drops all thinking so far.
   * Returns `false` if there is none.
   */
  dropThinking(running: TurnRecord): boolean {
    const shown = [...this.#turns, this.#shorten(running)];
    if (!shown.some(({ blocks }) => blocks.some(isThinking))) return false;
    this.#dropThinkingBefore(endOf(running));
    return true;
  }

  /**
   * Drops all thinking before a place. Newer models reject thinking if anything before it has changed, but accept the
   * history once that thinking and all older thinking are gone.
   */
  #dropThinkingBefore(place: BlockPlace): void {
    this.#hasChanged = true;
    if (isBefore(place, this.#thinkingFrom)) return;
    const before = turnsBytes(this.#turns);
    this.#thinkingFrom = place;
    this.#turns = this.#turns.map((turn) => this.#shorten(turn));
    this.#gauge.remove(before - turnsBytes(this.#turns));
  }

  /** Drops whatever is least needed. Returns `false` if nothing is left to drop. */
  #reduce(running: TurnRecord): boolean {
    if (this.#evictOldest(this.#limits.budgetTokens * KEPT_SHARE)) return true;
    if (this.#shortenBefore(beginOfLastResults(running), running)) return true;
    if (this.#turns.length > 0) {
      this.#summarizeDroppedTurns(this.#turns.length);
      return true;
    }
    return this.#shortenBefore({ position: running.position + 1, sequence: 0 }, running);
  }

  /**
   * Returns a function that adds up the bytes freed by dropping turns. Dropping the announcement of a tool that is
   * still offered frees nothing, because the announcement would be repeated.
   */
  #weigh(): (turn: TurnRecord) => number {
    const free = KnownTools.after(this.#turns).bytes;
    let [bytes, announced] = [0, 0];
    return (turn) => {
      bytes += turnBytes(turn);
      announced += announcedBytes(turn);
      return bytes - Math.min(announced, free);
    };
  }

  /**
   * Drops the oldest turns until the rest has at most this many tokens or is a single turn. Returns `false` if none had
   * to be dropped.
   */
  #evictOldest(tokens: number, written?: SummaryText): boolean {
    const { rate = USUAL_RATE } = this.#gauge;
    const bytesWith = this.#weigh();
    const isTooMuch = (turn: TurnRecord) => bytesWith(turn) * rate > tokens;
    const lastDropped = Math.min(this.#turns.findLastIndex(isTooMuch), this.#turns.length - 2);
    if (lastDropped < 0) return false;
    this.#summarizeDroppedTurns(lastDropped + 1, written);
    return true;
  }

  #summarizeDroppedTurns(count: number, written?: SummaryText): void {
    if (count <= 0) return;
    const { languageOf, onDropped } = this.#ports;
    const before = turnsBytes(this.#turns);
    this.#summary = summarizeDroppedTurns(this.#turns.slice(0, count), { before: this.#summary, written, languageOf });
    if (this.#summary) onDropped(this.#summary);
    this.#from = this.#turns[count]?.position ?? (this.#turns.at(-1)?.position ?? 0) + 1;
    this.#turns = this.#turns.slice(count);
    this.#gauge.remove(before - turnsBytes(this.#turns));
    this.#dropThinkingBefore(this.#afterPast());
  }

  /** Replaces large results and attachments before a place by placeholders. Returns `false` if there are none. */
  #shortenBefore(place: BlockPlace, running?: TurnRecord): boolean {
    const isNew = (at: BlockPlace) => isBefore(at, place) && !isBefore(at, this.#shortened);
    const turns = running ? [...this.#turns, running] : this.#turns;
    if (!turns.some((turn) => largePlaces(turn).some(isNew))) return false;
    const sum = () => turns.reduce((bytes, turn) => bytes + turnBytes(this.#shorten(turn)), 0);
    const before = sum();
    this.#shortened = place;
    this.#gauge.remove(before - sum());
    this.#turns = this.#turns.map((turn) => this.#shorten(turn));
    this.#dropThinkingBefore(this.#afterPast());
    return true;
  }

  #afterPast(): BlockPlace {
    return { position: (this.#turns.at(-1)?.position ?? this.#from - 1) + 1, sequence: 0 };
  }

  /** Returns a turn as it is shown: with placeholders for old large results, and without old thinking. */
  #shorten(turn: TurnRecord): TurnRecord {
    const shortened = shortenTurn(turn, this.#shortened);
    const blocks = withoutThinking(shortened, this.#thinkingFrom);
    return blocks === shortened.blocks ? shortened : { ...shortened, blocks };
  }
}
