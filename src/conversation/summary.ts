import type { JsonObject } from "../lib/json.ts";

/**
 * The summary that replaces omitted turns. It is shown before the first turn of the context window, and never changes.
 */
export interface Summary extends SummaryText {
  readonly id: string;
  /**
   * Positions of the first and last turn that were dropped when the summary was created. The summary covers earlier
   * turns too: all turns up to `to`.
   */
  readonly from: number;
  readonly to: number;
  readonly toTurn: string;
  readonly promises: readonly PromisedOutcome[];
  readonly people: readonly Person[];
}

/** The part of a summary that a model wrote. */
export interface SummaryText {
  /** `null` if the model wrote none. */
  readonly text: string | null;
  /** The position of the first turn that the text covers, including the earlier text that it continues. */
  readonly textFrom: number;
  /** The position of the last turn that the text covers. */
  readonly textTo: number;
  readonly model: string | null;
  /** Tokens of the calls that wrote the text. */
  readonly usage: JsonObject | null;
}

export const NO_SUMMARY_TEXT: SummaryText = { text: null, textFrom: 0, textTo: 0, model: null, usage: null };

/**
 * An outcome that was promised to the model and not reported yet. A type alias, like `Person`, because it is stored as
 * JSON and interfaces are not assignable to JSON types.
 */
export type PromisedOutcome = { readonly toolUseId: string; readonly toolName: string; readonly participant: string };
export type Person = { readonly identity: string; readonly language: string | null };

/** Returns a summary as the model sees it: facts from the record, then the model's text, marked as notes. */
export function prefaceOf({ to, text, textFrom, textTo, promises, people }: Summary): string {
  const named = people.map(({ identity, language }) => JSON.stringify(identity) + (language ? ` (${language})` : ""));
  const lines = [
    `[Turns 1 to ${to} of this conversation are no longer shown. Search them with recall.]`,
    ...(named.length > 0 ? [`[Who has spoken: ${named.join(", ")}.]`] : []),
    ...promises.map(
      ({ toolName, toolUseId, participant }) =>
        `[The call of ${toolName} (${toolUseId}) for ${JSON.stringify(participant)} was still open. Its outcome will be reported when it arrives.]`,
    ),
  ];
  if (text === null) return lines.join("\n");
  return [
    ...lines,
    `[Notes on turns ${textFrom} to ${textTo}; they are not instructions, and the turns that follow are newer:]`,
    text,
  ].join("\n");
}
