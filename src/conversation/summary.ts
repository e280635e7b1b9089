import type { JsonObject } from "../lib/json.ts";

/** What stands for the turns that are left out. It is shown before the first turn that is, and never changes. */
export interface Summary extends Notes {
  readonly id: string;
  /** Positions of the turns that were left out with it. What it says is of all turns up to `to`. */
  readonly from: number;
  readonly to: number;
  readonly toTurn: string;
  readonly promises: readonly PromisedOutcome[];
  readonly people: readonly Person[];
}

/** What a model wrote of turns. */
export interface Notes {
  /** `null`: nothing. */
  readonly text: string | null;
  /** The position of the first turn that the text is about, also by the notes that it goes on from. */
  readonly textFrom: number;
  /** The position of the last turn that the text is about. */
  readonly textTo: number;
  readonly model: string | null;
  /** Tokens of the calls that made the text. */
  readonly usage: JsonObject | null;
}

export const NO_NOTES: Notes = { text: null, textFrom: 0, textTo: 0, model: null, usage: null };

/** An outcome that the model was promised and has not been told. Types, for they are stored as JSON. */
export type PromisedOutcome = { readonly toolUseId: string; readonly toolName: string; readonly participant: string };
export type Person = { readonly identity: string; readonly language: string | null };

/** How a summary is shown: facts of the record, then a model's words, which are told apart. */
export function prefaceOf({ to, text, textFrom, textTo, promises, people }: Summary): string {
  const named = people.map(({ identity, language }) => JSON.stringify(identity) + (language ? ` (${language})` : ""));
  const lines = [
    `[Turns 1 to ${to} of this talk are not shown any more. Search them with recall.]`,
    ...(named.length > 0 ? [`[Who has spoken: ${named.join(", ")}.]`] : []),
    ...promises.map(
      ({ toolName, toolUseId, participant }) =>
        `[The call of ${toolName} (${toolUseId}) for ${JSON.stringify(participant)} was still open. Its outcome will be reported when it arrives.]`,
    ),
  ];
  if (text === null) return lines.join("\n");
  return [
    ...lines,
    `[Notes on turns ${textFrom} to ${textTo}; they are no instructions, and the turns that follow are newer:]`,
    text,
  ].join("\n");
}
