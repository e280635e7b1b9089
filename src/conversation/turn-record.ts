import type { JsonObject } from "../lib/json.ts";
import type { TurnBlock } from "./block.ts";
import { contentText, type ContentBlock } from "./content.ts";

/** The last four states are final. A turn loaded as `running` was in progress when its worker stopped. */
export type TurnState = "running" | "completed" | "interrupted" | "failed" | "cancelled";

/** One piece of what the participant said or typed. */
export interface InputText {
  readonly type: "text";
  readonly text: string;
  /** What was said, if the hook `onUserTurn` changed or refused it. `text` is what the model is shown. */
  readonly original?: string;
  /**
   * The sender's identity, set if the model must tell speakers apart. `name` is the sender's display name, if
   * different.
   */
  readonly from?: string;
  readonly name?: string;
}

/** A note from the worker to the model, not from the participant. */
export interface InputNote {
  readonly type: "note";
  readonly note: string;
  /** The words that the agent says as the turn's answer, without calling the model. */
  readonly say?: string;
  /** Set if participants cannot interrupt the turn. A ControlStop still ends it. */
  readonly isInterruptible?: false;
  /** Set if the call ends for everyone after the turn's answer. */
  readonly endsCall?: true;
  /** Set if the hook `onUserTurn` added the note. */
  readonly isFromHook?: true;
}

/** An attachment of the participant's message. */
export interface InputAttachment {
  readonly type: "attachment";
  /** As shown to the model: an image or a document. */
  readonly block: ContentBlock;
  readonly name?: string;
}

export type InputPart = InputText | InputNote | InputAttachment;

/** Returns what the participant said or typed, as one string. */
export function inputText(input: readonly InputPart[]): string {
  return input.flatMap((part) => (part.type === "text" ? (part.original ?? part.text) : [])).join("\n");
}

/** Returns the words of the participant that the model is shown. They differ from `inputText` if a hook changed them. */
export function shownText(input: readonly InputPart[]): string {
  return input.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

/**
 * Returns who wrote the input. Differs from the turn's participant if they regenerated the answer to another
 * participant's message.
 */
export function authorOf({ input, participantIdentity }: Pick<TurnRecord, "input" | "participantIdentity">): string {
  return input.find((part) => part.type === "text")?.from ?? participantIdentity;
}

/** Returns a part as the model sees it. An attachment is described in text. */
export function shownPart(part: InputPart): string {
  if (part.type === "note") return `[${part.note}]`;
  if (part.type === "attachment") return contentText([part.block]);
  const { from, name, text } = part;
  if (from === undefined) return text;
  const json = JSON.stringify({ from, ...(name !== undefined && { name }), text });
  // `JSON.stringify` does not escape these line breaks.
  return json.replaceAll(/[\u0085\u2028\u2029]/gu, " ");
}

/** A place in a conversation: before block `sequence` of the turn at `position`. */
export type BlockPlace = {
  readonly position: number;
  readonly sequence: number;
};

/**
 * The context window of a turn's last model call. It is stored with the turn, and the conversation's next model call
 * starts from it.
 */
export type ShownContext = {
  /** Position of the first turn in the window. */
  readonly from: number;
  /** Large tool results and attachments before this place were replaced by placeholders. */
  readonly shortened?: BlockPlace;
  /** Thinking before this place was omitted. */
  readonly thinking?: BlockPlace;
  /** The id of the summary that replaced the turns before `from`. */
  readonly summary?: string;
  /** The request's tokens as counted by the API, and the request's size in bytes. */
  readonly measured?: Measured;
  /** The tools added and removed during the turn, if system messages announce them to the model. */
  readonly tools?: readonly ToolChange[];
};

/** A tool of a client or an MCP server, as announced to the model. */
export type ClientToolDefinition = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The participant that announced the tool. */
  readonly owner?: string;
};

/** A change to the tools that the model may call, effective from a place in a turn. */
export type ToolChange = {
  /** The change is announced before the block with this sequence. */
  readonly before: number;
  readonly added: readonly ClientToolDefinition[];
  readonly removed: readonly string[];
};

export type Measured = {
  readonly tokens: number;
  readonly bytes: number;
};

/** How much of an answer was spoken or sent. */
export interface AnswerProgress {
  /** The number of sentences from the worker itself (asides), which are not in any block. */
  readonly asides: number;
  /** The number of all sentences sent, including asides. Absent if sentences are sent as soon as they are written. */
  readonly sent?: number;
  /** The number of the answer's own sentences that were heard in full. Absent if `sent` is absent. */
  readonly heard?: number;
}

/** A stored turn with its blocks in order. The model's history is built from these records alone. */
export interface TurnRecord {
  readonly id: string;
  /** Place in the session, starting at 1. */
  readonly position: number;
  /** The participant whose turn it is. */
  readonly participantIdentity: string;
  /** Id of the user's message, or `null` if no message started the turn. */
  readonly parentMessageId: string | null;
  /** Id of the assistant's message (StartAnswer). */
  readonly messageId: string;
  readonly input: readonly InputPart[];
  readonly state: TurnState;
  /** The code of the error that a failed turn ended with. */
  readonly errorCode?: string | undefined;
  readonly blocks: readonly TurnBlock[];
  /** Running turns only: why the model stopped after the last block. Absent if it continued, or if unknown. */
  readonly lastStopReason?: string | undefined;
  /** How much of the answer was spoken. Set while the turn is running or its answer is still being spoken. */
  readonly progress?: AnswerProgress | undefined;
  /**
   * The part of the answer that was heard, if its speech was cut off. Absent if all of it was heard, or none was
   * spoken.
   */
  readonly heard?: string | undefined;
  /**
   * The context window of the turn's last model call. Absent before the first call, and for turns stored by an older
   * version.
   */
  readonly context?: ShownContext | undefined;
}
