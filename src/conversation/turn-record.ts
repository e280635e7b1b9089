import { type TurnBlock } from "./block.ts";

/** A turn ends in one of the last four; `running` on load means that its worker stopped in the middle of it. */
export type TurnState = "running" | "completed" | "interrupted" | "failed" | "cancelled";

/** One piece of what the participant said or typed. */
export interface InputText {
  readonly type: "text";
  readonly text: string;
}

/** A stored turn with its blocks in order: all that history is built from. */
export interface TurnRecord {
  readonly id: string;
  /** Place in the session, from 1. */
  readonly position: number;
  /** Whose turn it is. */
  readonly participantIdentity: string;
  /** Id of the user's message; `null` when the turn was not begun by one. */
  readonly parentMessageId: string | null;
  /** Id of the assistant's message (StartAnswer). */
  readonly messageId: string;
  readonly input: readonly InputText[];
  readonly state: TurnState;
  readonly blocks: readonly TurnBlock[];
  /** Number of sentences of the answer that are in no block, because the worker said them itself. */
  readonly asides?: number;
  /** What was heard of an answer whose speech was cut off. Absent when all of it was heard, or none was spoken. */
  readonly heard?: string | undefined;
}
