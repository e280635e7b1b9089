import { isCompaction } from "../conversation/block.ts";
import { buildHistory, type HistoryMessage } from "../conversation/history.ts";
import {
  beginOfLastResults,
  endOf,
  largePlaces,
  placeOfMedia,
  shortenTurn,
  withoutUnanswered,
} from "../conversation/shorten.ts";
import {
  byteLength,
  isBefore,
  isThinking,
  START,
  toldBytes,
  turnBytes,
  turnsBytes,
  withoutThinking,
} from "../conversation/shown-context.ts";
import { prefaceOf, type Notes, type Summary } from "../conversation/summary.ts";
import { KnownTools } from "../conversation/tool-changes.ts";
import type { BlockPlace, ShownContext, ToolChange, TurnRecord } from "../conversation/turn-record.ts";
import { AppError } from "../errors/app-error.ts";
import { createId } from "../lib/id.ts";
import { leaveOut, NO_PORTS, type LeaveOutPorts } from "./leave-out.ts";
import { fitsAlone, type ContextLimits, type NextCall } from "./next-call.ts";
import { TokenGauge } from "./token-gauge.ts";

/** Turns that have ended, one after another, and what the model was shown with the last of them. */
export interface Window {
  readonly turns: readonly TurnRecord[];
  readonly context: ShownContext | undefined;
  /** What stood for the turns before. */
  readonly summary?: Summary | undefined;
}

/** What is known before a turn begins. */
interface Moment {
  /** What a model has written of the turns that are shown. */
  readonly notes?: Notes | undefined;
  /** More notes are on their way: there is patience. */
  readonly isWriting?: boolean;
  /** So much time has passed that the prompt cache is lost anyway. */
  readonly isCold?: boolean;
}

/** Of the budget, how much is kept where something is left out: so it happens seldom, and the prompt cache lasts. */
const KEPT_SHARE = 0.5;
/** How far past turns may grow over the budget while notes on them are written. */
const PATIENCE = 1.5;
/** Results of this many newest turns are kept whole, as long as they fit. */
const WHOLE_TURNS = 2;
/** A guard for the memory, should an API not tell its tokens truly: real text has fewer bytes a token. */
const MAX_BYTES_A_TOKEN = 12;
/** For weighing turns against each other before the API has counted anything. */
const USUAL_RATE = 1 / 3;

/**
 * What of the talk the model is shown: the newest turns that have ended, and the running one. Whole turns are left out,
 * oldest first, and never come back; large results may give way to placeholders, in the running turn too. So a request
 * is the one before it with more at its end, but for the few moments where something is left out.
 */
export class ShownTalk {
  readonly #limits: ContextLimits;
  readonly #gauge: TokenGauge;
  readonly #ports: LeaveOutPorts;
  #summary: Summary | undefined;
  #turns: readonly TurnRecord[];
  #shortened: BlockPlace;
  #thinkingFrom: BlockPlace;
  #from: number;
  /** Told in the running turn. */
  #told: readonly ToolChange[] = [];
  #hasChanged = false;

  constructor({ turns, context, summary }: Window, limits: ContextLimits, ports: LeaveOutPorts = NO_PORTS) {
    this.#limits = limits;
    this.#ports = ports;
    this.#summary = summary;
    this.#gauge = new TokenGauge(context?.measured);
    this.#from = context?.from ?? turns[0]?.position ?? 1;
    this.#shortened = context?.shortened ?? START;
    this.#thinkingFrom = context?.thinking ?? START;
    this.#turns = turns.map((turn) => this.#shorten(withoutUnanswered(turn)));
  }

  /** The turns that have ended and are shown, oldest first. */
  get turns(): readonly TurnRecord[] {
    return this.#turns;
  }

  /** Whether something of the talk is left out or shortened. */
  get isCut(): boolean {
    return this.#from > 1 || isBefore(START, this.#shortened);
  }

  /** To be stored with a turn, so that the next worker shows the same. */
  get context(): ShownContext {
    const { measured } = this.#gauge;
    const isShortened = isBefore(START, this.#shortened);
    return {
      from: this.#from,
      ...(isShortened && { shortened: this.#shortened }),
      ...(isBefore(START, this.#thinkingFrom) && { thinking: this.#thinkingFrom }),
      ...(this.#summary && { summary: this.#summary.id }),
      ...(measured && { measured }),
      ...(this.#told.length > 0 && { tools: this.#told }),
    };
  }

  /** To be stored at once, when what the running turn goes on from is not what the turn before was shown. */
  takeChange(): ShownContext | undefined {
    const change = this.#hasChanged ? this.context : undefined;
    this.#hasChanged = false;
    return change;
  }

  /** What stands for the turns that are left out. */
  get summary(): Summary | undefined {
    return this.#summary;
  }

  /** The turns that are shown after a position, without the newest ones of so many tokens. */
  turnsAfter(position: number, { without }: { readonly without: number }): readonly TurnRecord[] {
    const bytesWith = this.#weigh();
    const isOlder = (turn: TurnRecord) => bytesWith(turn) * (this.#gauge.rate ?? 0) > without;
    const end = this.#turns.findLastIndex(isOlder) + 1;
    return this.#turns.slice(0, end).filter((turn) => turn.position > position);
  }

  /** By their share of what the API counted. */
  tokensOf(turns: readonly TurnRecord[]): number {
    const bytesWith = this.#weigh();
    return (this.#gauge.rate ?? 0) * turns.reduce((_, turn) => bytesWith(turn), 0);
  }

  /** Takes a turn that has ended. */
  add(turn: TurnRecord): void {
    this.#turns = [...this.#turns, this.#shorten({ ...withoutUnanswered(turn), context: this.context })];
    [this.#told, this.#hasChanged] = [[], false];
    // The API shows the model nothing of what stands before it.
    if (turn.blocks.some(isCompaction)) this.#leaveOut(this.#turns.length - 1);
  }

  /** Goes on with a turn that an earlier worker left. */
  resume({ context }: TurnRecord): void {
    this.#told = context?.tools ?? [];
  }

  /** The API has refused a tool that was told in the running turn: nothing is said of it any more. */
  withdraw(name: string): void {
    this.#hasChanged = true;
    this.#told = this.#told.map((change) => ({ ...change, added: change.added.filter((tool) => tool.name !== name) }));
  }

  /**
   * Makes room before a turn begins: when past turns are over the budget, it leaves out so much that it lasts. Turns of
   * which a model has written notes go first, also when the prompt cache is lost anyway.
   */
  makeRoom({ notes, isWriting = false, isCold = false }: Moment = {}): void {
    const { budgetTokens, hardTokens } = this.#limits;
    const isOver = (share = 1) => {
      const isTooLarge = turnsBytes(this.#turns) > hardTokens * MAX_BYTES_A_TOKEN;
      const atMost = turnsBytes(this.#turns) * (this.#gauge.rate ?? 0);
      return isTooLarge || (atMost > budgetTokens * share && this.tokensOf(this.#turns) > budgetTokens * share);
    };
    const noted = notes ? this.#turns.findLastIndex(({ position }) => position <= notes.textTo) + 1 : 0;
    if (noted > 0 && (isOver() || isCold)) this.#leaveOut(Math.min(noted, this.#turns.length - 1), notes);
    if (!isOver(isWriting ? PATIENCE : 1)) return;
    const firstWhole = this.#turns.at(-WHOLE_TURNS);
    if (firstWhole) this.#shortenBefore({ position: firstWhole.position, sequence: 0 });
    this.#keepNewest(budgetTokens * KEPT_SHARE, notes);
  }

  /**
   * The history of the next model call, which is at most `hardTokens` long. The API's count of an earlier call tells how
   * long it is, and what came since counts with its bytes; where that might be too much, the API is asked to count.
   *
   * @throws {AppError} `too_large` when the running turn alone is too long
   */
  async fit(next: NextCall): Promise<readonly HistoryMessage[]> {
    const { turn, isPaused, others, count } = next;
    const { hardTokens, inlineTools: tellsTools = false } = this.#limits;
    const mediaFrom = placeOfMedia([...this.#turns, this.#shorten(turn)]);
    if (mediaFrom) this.#shortenBefore(mediaFrom, turn);
    let isAloneShort = false;
    for (;;) {
      if (tellsTools && !isPaused) this.#tell(next);
      const shown = this.#shorten({ ...turn, context: this.context });
      const beside = others({ isCut: this.isCut });
      const preface = this.#summary ? prefaceOf(this.#summary) : "";
      const bytes = turnsBytes(this.#turns) + turnBytes(shown) + beside.bytes + byteLength(preface);
      const history = buildHistory([...this.#turns, shown], { isPaused, preface, tellsTools });
      if (this.#gauge.atMost(bytes, beside) <= hardTokens) return history;
      const tokens = await count(history);
      if (tokens !== undefined) this.#gauge.count(tokens);
      if (tokens !== undefined && tokens <= hardTokens) return history;
      // Before anything is left out: what is refused must not take the talk before it along.
      isAloneShort ||= this.#turns.length === 0 || (await fitsAlone(next, beside, this.#limits));
      if (!isAloneShort || !this.#reduce(turn))
        throw new AppError("too_large", "The message is too long for the model");
    }
  }

  /** The API has told how many tokens the request had for which `fit` was called last. */
  measure(tokens: number): void {
    this.#gauge.count(tokens);
  }

  /** Leaves out all turns that have ended; these words stand for them, in the place of any that did. */
  forget(text: string): void {
    const [known, first, last] = [this.#summary, this.#turns[0], this.#turns.at(-1)];
    const textFrom = known?.text ? known.textFrom : (first?.position ?? known?.to ?? 0);
    const written = { text, textFrom, model: null, usage: null };
    if (last) return this.#leaveOut(this.#turns.length, { ...written, textTo: last.position });
    if (!known) return;
    this.#summary = { ...known, ...written, id: createId() };
    this.#ports.onLeftOut(this.#summary);
    this.#dropThinkingBefore(this.#afterPast());
  }

  /** The API found the last request too long, whatever was known of it. `false`: nothing more can be left out. */
  shorten(running: TurnRecord): boolean {
    if (this.#turns.length === 0) return this.#reduce(running);
    this.#leaveOut(Math.ceil(this.#turns.length / 2));
    return true;
  }

  /** The API refused a picture or a document: from now on, all by now are told in words. `false`: there is none. */
  dropMedia(running: TurnRecord): boolean {
    return this.#shortenBefore(endOf(running), running);
  }

  /** Turns that are left out take with them what they told: it is told anew. */
  #tell({ turn, passingTools = [] }: NextCall): void {
    const known = KnownTools.after([...this.#turns, { ...turn, context: this.context }]);
    const change = known.changeTo(passingTools, (turn.blocks.at(-1)?.sequence ?? -1) + 1);
    if (!change) return;
    this.#told = [...this.#told, change];
    this.#hasChanged = true;
  }

  /** The API refused thinking for what has changed before it. `false`: none of it is shown. */
  dropThinking(running: TurnRecord): boolean {
    const shown = [...this.#turns, this.#shorten(running)];
    if (!shown.some(({ blocks }) => blocks.some(isThinking))) return false;
    this.#dropThinkingBefore(endOf(running));
    return true;
  }

  /** Newer models refuse thinking when something before it has changed: with all that is older, it can be left out. */
  #dropThinkingBefore(place: BlockPlace): void {
    this.#hasChanged = true;
    if (isBefore(place, this.#thinkingFrom)) return;
    const before = turnsBytes(this.#turns);
    this.#thinkingFrom = place;
    this.#turns = this.#turns.map((turn) => this.#shorten(turn));
    this.#gauge.remove(before - turnsBytes(this.#turns));
  }

  /** Leaves out what can best be spared. `false`: nothing is left that could be. */
  #reduce(running: TurnRecord): boolean {
    if (this.#keepNewest(this.#limits.budgetTokens * KEPT_SHARE)) return true;
    if (this.#shortenBefore(beginOfLastResults(running), running)) return true;
    if (this.#turns.length > 0) {
      this.#leaveOut(this.#turns.length);
      return true;
    }
    return this.#shortenBefore({ position: running.position + 1, sequence: 0 }, running);
  }

  /**
   * Adds up the bytes that leaving turns out would free. What tells of tools that the model still knows frees nothing: they
   * would be told anew.
   */
  #weigh(): (turn: TurnRecord) => number {
    const free = KnownTools.after(this.#turns).bytes;
    let [bytes, told] = [0, 0];
    return (turn) => {
      bytes += turnBytes(turn);
      told += toldBytes(turn);
      return bytes - Math.min(told, free);
    };
  }

  /** Leaves out the oldest turns until the rest has so many tokens, or is one turn. `false`: it has that already. */
  #keepNewest(tokens: number, notes?: Notes): boolean {
    const { rate = USUAL_RATE } = this.#gauge;
    const bytesWith = this.#weigh();
    const isTooMuch = (turn: TurnRecord) => bytesWith(turn) * rate > tokens;
    const lastLeftOut = Math.min(this.#turns.findLastIndex(isTooMuch), this.#turns.length - 2);
    if (lastLeftOut < 0) return false;
    this.#leaveOut(lastLeftOut + 1, notes);
    return true;
  }

  #leaveOut(count: number, notes?: Notes): void {
    if (count <= 0) return;
    const { languageOf, onLeftOut } = this.#ports;
    const before = turnsBytes(this.#turns);
    this.#summary = leaveOut(this.#turns.slice(0, count), { before: this.#summary, notes, languageOf });
    if (this.#summary) onLeftOut(this.#summary);
    this.#from = this.#turns[count]?.position ?? (this.#turns.at(-1)?.position ?? 0) + 1;
    this.#turns = this.#turns.slice(count);
    this.#gauge.remove(before - turnsBytes(this.#turns));
    this.#dropThinkingBefore(this.#afterPast());
  }

  /** Puts placeholders for the large results before a place. `false`: there is none. */
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

  /** A turn as it is shown: with placeholders for old results, and without old thinking. */
  #shorten(turn: TurnRecord): TurnRecord {
    const shortened = shortenTurn(turn, this.#shortened);
    const blocks = withoutThinking(shortened, this.#thinkingFrom);
    return blocks === shortened.blocks ? shortened : { ...shortened, blocks };
  }
}
