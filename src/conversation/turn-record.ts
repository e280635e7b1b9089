import type { JsonObject } from "../lib/json.ts";
import type { TurnBlock } from "./block.ts";
import { contentText, type ContentBlock } from "./content.ts";

/** A turn ends in one of the last four; `running` on load means that its worker stopped in the middle of it. */
export type TurnState = "running" | "completed" | "interrupted" | "failed" | "cancelled";

/** One piece of what the participant said or typed. */
export interface InputText {
  readonly type: "text";
  readonly text: string;
  /** The sender's identity, where the model is told apart who speaks; and its display name, if it has another one. */
  readonly from?: string;
  readonly name?: string;
}

/** What the worker itself tells the model. The participant has not said it. */
export interface InputNote {
  readonly type: "note";
  readonly note: string;
  /** The turn's answer, in the place of a model's. */
  readonly say?: string;
  /** The call ends after that answer, for all. */
  readonly endsCall?: true;
}

/** What came with the participant's message. */
export interface InputAttachment {
  readonly type: "attachment";
  /** As the model is shown it: an image or a document. */
  readonly block: ContentBlock;
  readonly name?: string;
}

export type InputPart = InputText | InputNote | InputAttachment;

/** What the participant said or typed, in one text. */
export function saidIn(input: readonly InputPart[]): string {
  return input.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

/** Who has said it: another one than whose turn it is, when that one had the message answered again. */
export function sayerOf({ input, participantIdentity }: Pick<TurnRecord, "input" | "participantIdentity">): string {
  return input.find((part) => part.type === "text")?.from ?? participantIdentity;
}

/** A part as the model is shown it; of an attachment, what is told of it in words. */
export function shownPart(part: InputPart): string {
  if (part.type === "note") return `[${part.note}]`;
  if (part.type === "attachment") return contentText([part.block]);
  const { from, name, text } = part;
  if (from === undefined) return text;
  const json = JSON.stringify({ from, ...(name !== undefined && { name }), text });
  // JSON leaves these line breaks as they are.
  return json.replaceAll(/[\u0085\u2028\u2029]/gu, " ");
}

/** A place in a talk: before this block of the turn at `position`. */
export type BlockPlace = {
  readonly position: number;
  readonly sequence: number;
};

/** What of the talk the model was shown in a turn's last call. Stored with the turn: the next one goes on from it. */
export type ShownContext = {
  /** Position of the first turn that was shown. */
  readonly from: number;
  /** Large tool results before this place were shown as placeholders. */
  readonly shortened?: BlockPlace;
  /** Thinking before this place was not shown. */
  readonly thinking?: BlockPlace;
  /** The id of what stood for the turns before. */
  readonly summary?: string;
  /** How many tokens the call's request had, by the API's own count, and how many bytes they were made of. */
  readonly measured?: Measured;
  /** Which tools came and went in the turn, where the model is told so in the talk. */
  readonly tools?: readonly ToolChange[];
};

/** A tool of a client or an MCP server, as the model is told of it. */
export type ToldTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The participant that announced it. */
  readonly owner?: string;
};

/** From a place in a turn on, the model may call other tools than before. */
export type ToolChange = {
  /** It is told before the block of this sequence. */
  readonly before: number;
  readonly added: readonly ToldTool[];
  readonly removed: readonly string[];
};

export type Measured = {
  readonly tokens: number;
  readonly bytes: number;
};

/** How much of an answer has been said. */
export interface AnswerProgress {
  /** Sentences that are in no block, because the worker said them itself. */
  readonly asides: number;
  /** All sentences that were sent, asides included. Absent while sentences are sent as they are written. */
  readonly sent?: number;
  /** The answer's own sentences that were heard in full. Absent with `sent`. */
  readonly heard?: number;
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
  readonly input: readonly InputPart[];
  readonly state: TurnState;
  readonly blocks: readonly TurnBlock[];
  /** Of a running turn: why the model ended after the last block. Absent when it went on, or that is not known. */
  readonly lastStopReason?: string | undefined;
  /** Of a running turn, and of one whose answer is still being spoken: how much of its answer has been said. */
  readonly progress?: AnswerProgress | undefined;
  /** What was heard of an answer whose speech was cut off. Absent when all of it was heard, or none was spoken. */
  readonly heard?: string | undefined;
  /** What the model was shown in its last call. Absent before that, and where an older version stored the turn. */
  readonly context?: ShownContext | undefined;
}
