import { outcomeSubject, toolUseId, type TurnBlock } from "../conversation/block.ts";
import {
  NO_SUMMARY_TEXT,
  type SummaryText,
  type Person,
  type PromisedOutcome,
  type Summary,
} from "../conversation/summary.ts";
import type { TurnRecord } from "../conversation/turn-record.ts";
import { createId } from "../lib/id.ts";
import { asText } from "../lib/json.ts";
import { isReceipt } from "../tool/outcome.ts";

/** What summarizing dropped turns needs from the session. */
export interface DroppedTurnsPorts {
  readonly languageOf: (identity: string) => string | undefined;
  /** Stores the summary that replaces dropped turns. */
  readonly onDropped: (summary: Summary) => void;
}

export const NO_PORTS: DroppedTurnsPorts = { languageOf: () => undefined, onDropped: () => {} };

interface DroppedTurnsInput extends Pick<DroppedTurnsPorts, "languageOf"> {
  /** The summary of the turns that were dropped earlier. */
  readonly before: Summary | undefined;
  /** The text that a model has written since then. */
  readonly written: SummaryText | undefined;
}

/** Returns the summary that replaces the turns dropped now (given oldest first) and all turns before them. */
export function summarizeDroppedTurns(
  turns: readonly TurnRecord[],
  { before, written, languageOf }: DroppedTurnsInput,
): Summary | undefined {
  const [first, last] = [turns[0], turns.at(-1)];
  if (!first || !last) return before;
  const known = before ?? NO_SUMMARY_TEXT;
  const { text, textFrom, textTo, model, usage } = written && written.textTo > known.textTo ? written : known;
  const range = { id: createId(), from: first.position, to: last.position, toTurn: last.id };
  const promises = promisedAfter(before?.promises ?? [], turns);
  return {
    ...range,
    text,
    textFrom,
    textTo,
    model,
    usage,
    promises,
    people: peopleAfter(before?.people ?? [], turns, languageOf),
  };
}

/** Returns the promised outcomes that have not been reported yet, according to the blocks. */
function promisedAfter(before: readonly PromisedOutcome[], turns: readonly TurnRecord[]): PromisedOutcome[] {
  const reported = new Set(turns.flatMap(({ blocks }) => blocks.flatMap((block) => outcomeSubject(block) ?? [])));
  const promised = turns.flatMap(({ blocks, participantIdentity: participant }) =>
    blocks.filter(isPromise).map((block) => {
      const id = toolUseId(block) ?? "";
      const use = blocks.find(({ blockType, content }) => blockType === "tool_use" && content?.["tool_use_id"] === id);
      return { toolUseId: id, toolName: asText(use?.content?.["tool_name"]), participant };
    }),
  );
  return [...before, ...promised].filter((one) => !reported.has(one.toolUseId));
}

function isPromise({ blockType, content }: TurnBlock): boolean {
  return blockType === "tool_result" && isReceipt(content?.["content"]);
}

/** Returns everyone who has had a turn, in the order of their first turns. */
function peopleAfter(
  before: readonly Person[],
  turns: readonly TurnRecord[],
  languageOf: DroppedTurnsInput["languageOf"],
): Person[] {
  const languages = new Map(before.map(({ identity, language }) => [identity, language]));
  for (const { participantIdentity: identity } of turns)
    languages.set(identity, languageOf(identity) ?? languages.get(identity) ?? null);
  return [...languages].map(([identity, language]) => ({ identity, language }));
}
