import { RECALL_TOOL } from "../../session/recall/recall-tool.ts";
import { toolUseId } from "../../conversation/block.ts";
import { contentText } from "../../conversation/content.ts";
import { shownText } from "../../conversation/turn-record.ts";
import type { JsonValue } from "../../lib/json.ts";
import type { RecallStore } from "../../session/recall/recall-store.ts";
import type { FoundPiece } from "../../store/recall/search-record.ts";
import type { MemoryRecorder, MemoryTurn } from "./memory-recorder.ts";

/**
 * How many pieces of a turn are returned, and how many characters of each: the same limits as in the database
 * (`searchRecord`).
 */
const MAX_PIECES = 3;
const WHOLE = 300;

type Piece = Omit<FoundPiece, "turn" | "at" | "participant">;

/** Searches a recorder's turns as the database does, except for the database's rules about what counts as a word. */
export class MemoryRecall implements RecallStore {
  readonly #recorder: MemoryRecorder;

  constructor(recorder: MemoryRecorder) {
    this.#recorder = recorder;
  }

  readonly search: RecallStore["search"] = async (
    _callId,
    { words, speaker, tool, from = 0, to = Infinity, limit },
  ) => {
    const terms = words.flatMap((word) => wordsOf(word));
    if (words.length > 0 && terms.length === 0) return undefined;
    const kind = tool === undefined ? (typeof speaker === "object" ? "participant" : speaker) : "tool";
    const isWanted = (piece: Piece) =>
      (kind === undefined || piece.speaker === kind) && (tool === undefined || piece.toolName === tool);
    const found = this.#ended().flatMap((each) => {
      const { turn, beganAt } = each;
      if (beganAt < from || beganAt > to) return [];
      if (typeof speaker === "object" && turn.participantIdentity !== speaker.participant) return [];
      const pieces = piecesOf(each).filter(isWanted);
      if (!terms.every((term) => pieces.some((piece) => has(piece, term)))) return [];
      const shown = terms.length === 0 ? pieces : pieces.filter((piece) => terms.some((term) => has(piece, term)));
      if (shown.length === 0) return [];
      const of = { turn: turn.position, at: beganAt, participant: turn.participantIdentity };
      return [shown.slice(0, MAX_PIECES).map((piece) => ({ ...piece, ...of, excerpt: piece.excerpt.slice(0, WHOLE) }))];
    });
    return found.slice(0, limit).flat();
  };

  readonly findResult: RecallStore["findResult"] = async (_callId, id) => {
    const call = this.#recorder.settled.find((each) => each.id === id || each.toolUseId === id);
    const useId = call?.toolUseId ?? id;
    for (const { turn, blocks, beganAt } of [...this.#recorder.turns.values()].toReversed()) {
      const answer = blocks.find((block) => block.blockType === "tool_result" && toolUseId(block) === useId);
      if (!answer && call?.turnId !== turn.id) continue;
      const { outcome } = call ?? {};
      return {
        toolUseId: useId,
        toolName: call?.toolName ?? nameOf(blocks, useId),
        at: beganAt,
        state: call?.state ?? null,
        result: outcome?.result ?? null,
        errorMessage: outcome && "errorMessage" in outcome ? outcome.errorMessage : null,
        modelResult: answer ? contentText(answer.content?.["content"]) : null,
      };
    }
    return undefined;
  };

  /** The turns that have ended and were not replaced, newest first. */
  #ended(): readonly MemoryTurn[] {
    return [...this.#recorder.turns.values()].filter(({ state, isReplaced }) => state && !isReplaced).toReversed();
  }
}

function piecesOf({ turn, blocks, heard }: MemoryTurn): readonly Piece[] {
  const none = { toolName: null, toolUseId: null };
  const said: Piece[] =
    turn.parentMessageId === null ? [] : [{ speaker: "participant", ...none, excerpt: shownText(turn.input) }];
  const spoken: Piece[] = heard === undefined ? [] : [{ speaker: "agent", ...none, excerpt: heard }];
  const rest = blocks.flatMap((block): readonly Piece[] => {
    const { blockType, textContent, content } = block;
    if (blockType === "text")
      return heard === undefined ? [{ speaker: "agent", ...none, excerpt: textContent ?? "" }] : [];
    const useId = toolUseId(block);
    const toolName = useId === undefined ? null : nameOf(blocks, useId);
    // Leave out uses of `recall`: otherwise, its own results would be found again and again.
    if (useId === undefined || toolName === null || toolName === RECALL_TOOL) return [];
    if (blockType === "tool_use")
      return [{ speaker: "tool", toolName, toolUseId: useId, excerpt: wordsIn(content?.["input"]) }];
    if (blockType !== "tool_result") return [];
    return [{ speaker: "tool", toolName, toolUseId: useId, excerpt: contentText(content?.["content"]) }];
  });
  return [...said, ...spoken, ...rest];
}

function nameOf(blocks: MemoryTurn["blocks"], useId: string): string | null {
  const use = blocks.find((block) => block.blockType.endsWith("tool_use") && toolUseId(block) === useId);
  const name = use?.content?.["tool_name"];
  return typeof name === "string" ? name : null;
}

/** Returns all strings and numbers in a value, separated by spaces. */
function wordsIn(value: JsonValue | undefined): string {
  if (typeof value === "string" || typeof value === "number") return `${value}`;
  return typeof value === "object" && value !== null ? Object.values(value).map(wordsIn).join(" ") : "";
}

function has({ excerpt }: Piece, term: string): boolean {
  return wordsOf(excerpt).some((word) => word.startsWith(term));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
