import { asText } from "../lib/json.ts";
import { toolResultBlock, toolUseId, type TurnBlock } from "./block.ts";
import { truncateToPlayed } from "./truncate-to-played.ts";
import { toSteps, UsedIds, type Step } from "./steps.ts";
import { KnownTools } from "./tool-changes.ts";
import { shownPart, type InputPart, type TurnRecord } from "./turn-record.ts";

/** A block as sent to the model, without its position in the turn. */
export type HistoryBlock = Omit<TurnBlock, "sequence">;

/** One message of the model's history. Two consecutive messages never have the same role. */
export interface HistoryMessage {
  /**
   * `system` announces added and removed tools. It follows a user message, and is either last or followed by an
   * assistant message.
   */
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly HistoryBlock[];
}

/** Notes to the model about a turn that did not end normally, added to the next user message. */
const END_NOTES: Partial<Record<TurnRecord["state"], string>> = {
  interrupted: "[The previous reply was interrupted by the user; they received no more of it than is shown.]",
  cancelled: "[The previous reply was stopped by the user.]",
  failed: "[The previous reply failed before it was complete.]",
};

/** The note about a turn that ended normally, but whose speech was cut off. */
const CUT_OFF = "[The previous reply was cut off while it was spoken; the user heard no more of it than is shown.]";

/** The result shown to the model for a tool use without a stored result. */
export const OUTCOME_UNKNOWN = "Outcome unknown: the worker stopped while the tool ran.";

/**
 * Builds the model's history from stored turns, oldest first. Whatever happened to the turns, the history follows the
 * API's rules (docs/sources.md):
 *
 * - Every tool_use has exactly one tool_result in the next user message. Results come first in that message, in call
 *   order.
 * - No block is empty or lacks its signature.
 * - The first message is a user's, and roles alternate.
 *
 * If the last turn is still running, the history ends with the results of its last step, or with the assistant's blocks
 * if that step has no results.
 *
 * @param options.isPaused whether the running turn's last step ended with `pause_turn`; that step is sent back
 *   unchanged
 * @param options.preface the text that replaces the omitted turns
 * @param options.announcesTools whether system messages tell the model which tools were added or removed
 */
export function buildHistory(
  turns: readonly TurnRecord[],
  { isPaused = false, preface = "", announcesTools = false }: HistoryOptions = {},
): HistoryMessage[] {
  const isRunning = turns.at(-1)?.state === "running";
  const ended = isRunning ? turns.slice(0, -1) : turns;
  const draft = begin(ended, { preface, announcesTools }).copy();
  const running = isRunning ? turns.at(-1) : undefined;
  if (running) draft.add(running, { isOpen: true, isPaused });
  return draft.end();
}

/**
 * The history up to and including an ended turn, keyed by that turn. The conversation's next request extends this draft
 * instead of converting the earlier turns again, so the cost of a request does not grow with the conversation. Each
 * conversation has at most one entry.
 */
const drafts = new WeakMap<TurnRecord, HistoryDraft>();

function begin(ended: readonly TurnRecord[], options: DraftOptions): HistoryDraft {
  const [before, last] = [ended.at(-2), ended.at(-1)];
  const known = last && drafts.get(last);
  if (known?.isOf(ended, options)) return known;
  const shorter = before && drafts.get(before);
  let draft: HistoryDraft;
  if (last && before && shorter?.isOf(ended.slice(0, -1), options)) {
    drafts.delete(before);
    draft = shorter;
    draft.add(last);
  } else {
    draft = new HistoryDraft(options);
    for (const turn of ended) draft.add(turn);
  }
  if (last) drafts.set(last, draft);
  return draft;
}

type DraftOptions = Required<Pick<HistoryOptions, "preface" | "announcesTools">>;

/**
 * The history of the turns added so far. Messages are never mutated: a message that grows is replaced by a new object.
 */
class HistoryDraft {
  readonly #options: DraftOptions;
  #turns: TurnRecord[] = [];
  #messages: HistoryMessage[] = [];
  #usedIds = new UsedIds();
  #known = new KnownTools();
  #pending: readonly HistoryBlock[] = [];

  constructor(options: DraftOptions) {
    this.#options = options;
    append(this.#messages, "user", [textBlock(options.preface)].filter(isSayable));
  }

  isOf(turns: readonly TurnRecord[], { preface, announcesTools }: DraftOptions): boolean {
    const own = this.#options;
    if (own.preface !== preface || own.announcesTools !== announcesTools || turns.length !== this.#turns.length)
      return false;
    return turns.every((turn, index) => turn === this.#turns[index]);
  }

  /** Returns a copy for temporary additions. The copy must not be used once `add` has been called on the original. */
  copy(): HistoryDraft {
    const copy = new HistoryDraft(this.#options);
    copy.#turns = [...this.#turns];
    copy.#messages = [...this.#messages];
    copy.#usedIds = new UsedIds(this.#usedIds);
    copy.#known = this.#known.copy();
    copy.#pending = this.#pending;
    return copy;
  }

  add(turn: TurnRecord, { isOpen, isPaused } = { isOpen: false, isPaused: false }): void {
    this.#turns.push(turn);
    append(this.#messages, "user", turn.input.map(inputBlock).filter(isSayable));
    const blocks = turn.heard === undefined ? turn.blocks : truncateToPlayed(turn.blocks, turn.heard);
    let changes = (this.#options.announcesTools && turn.context?.tools) || [];
    const takeChanges = (before: number) => {
      const due = changes.filter((change) => change.before <= before);
      changes = changes.slice(due.length);
      this.#pending = [...this.#pending, ...due.flatMap((change) => this.#known.apply(change))];
    };
    for (const step of toSteps(blocks, { isOpen, isPaused, usedIds: this.#usedIds })) {
      takeChanges(step.blocks[0]?.sequence ?? 0);
      this.#announceTools();
      appendStep(this.#messages, step);
    }
    takeChanges(Number.POSITIVE_INFINITY);
    const note = turn.state === "completed" && turn.heard !== undefined ? CUT_OFF : END_NOTES[turn.state];
    if (note !== undefined) append(this.#messages, "user", [textBlock(note)]);
  }

  /** Returns the finished messages. The draft must not be used afterwards. */
  end(): HistoryMessage[] {
    this.#announceTools();
    const messages = this.#messages;
    if (messages[0]?.role === "assistant")
      messages.unshift({ role: "user", blocks: [textBlock("[The talk continues.]")] });
    return messages;
  }

  /**
   * If the last message is a user's, announces the pending tool changes in a system message. The API accepts such a
   * message only directly after a user message.
   */
  #announceTools(): void {
    if (this.#pending.length === 0 || this.#messages.at(-1)?.role !== "user") return;
    this.#messages.push({ role: "system", blocks: this.#pending });
    this.#pending = [];
  }
}

interface HistoryOptions {
  readonly isPaused?: boolean;
  readonly preface?: string;
  readonly announcesTools?: boolean;
}

export function textBlock(text: string): HistoryBlock {
  return { blockType: "text", textContent: text, content: null };
}

function appendStep(messages: HistoryMessage[], { blocks, results }: Step): void {
  append(messages, "assistant", blocks);
  const uses = blocks.filter((block) => block.blockType === "tool_use");
  append(
    messages,
    "user",
    uses.map((use) => results.get(toolUseId(use) ?? "") ?? unknownResult(use)),
  );
}

function unknownResult(use: HistoryBlock): HistoryBlock {
  return toolResultBlock(toolUseId(use) ?? "", { content: OUTCOME_UNKNOWN, isError: true });
}

/** Adds blocks, merging them into the last message if it has the same role. If there are no blocks, adds nothing. */
function append(messages: HistoryMessage[], role: HistoryMessage["role"], blocks: readonly HistoryBlock[]): void {
  if (blocks.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === role) messages[messages.length - 1] = { role, blocks: [...last.blocks, ...blocks] };
  else messages.push({ role, blocks });
}

function inputBlock(part: InputPart): HistoryBlock {
  if (part.type !== "attachment") return textBlock(shownPart(part));
  return { blockType: asText(part.block["type"]), textContent: null, content: part.block };
}

function isSayable(block: HistoryBlock): boolean {
  if (block.blockType !== "text") return true;
  return block.textContent !== null && block.textContent.trim() !== "";
}
