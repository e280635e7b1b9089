import type { MessageBody } from "@parley/client";

/** A part of a message. Parts are in display order. */
export type Part =
  | {
      readonly kind: "text" | "thinking";
      readonly sequence: number;
      readonly text: string;
      /** How many characters of `text` have arrived as sentences. In a spoken answer, how many have been played. */
      readonly saidTo: number;
      /** Where the last sentence that has arrived begins. Absent until one has arrived. */
      readonly sentenceAt?: number;
    }
  | { readonly kind: "call"; readonly sequence: number; readonly toolUseId: string }
  /** Text from the worker that is not part of any block: a filler or a question. */
  | { readonly kind: "aside"; readonly text: string };

export type MessageState = "sending" | "sent" | "open" | "completed" | "interrupted" | "failed" | "cancelled";

/** One message from a user or the agent. Immutable: each change creates a new object. */
export interface TalkMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** The identity of the author, if it is another participant. Absent for this participant and the agent. */
  readonly from?: string;
  /** When this client first received the message, in Unix ms. */
  readonly at: number;
  readonly parts: readonly Part[];
  /** The names or media types of the message's attachments. */
  readonly attachments?: readonly string[];
  readonly state: MessageState;
  /** Answers only: the id of the message that is answered. Absent if the agent started the turn. */
  readonly replyTo?: string;
  /** Whether the answer is spoken as well. */
  readonly isSpoken?: boolean;
  /** The error message, if this message failed. */
  readonly problem?: string;
}

type BlockEvent = MessageBody<"block_event">;

const CALL_BLOCKS: readonly (string | undefined)[] = ["tool_use", "server_tool_use"];

/** Returns the message's text, without its calls. */
export function textOf({ parts }: TalkMessage): string {
  return parts.flatMap((part) => (part.kind === "text" || part.kind === "aside" ? part.text : [])).join(" ");
}

/** Applies an event of one of the message's blocks. Returns the same object if nothing visible changes. */
export function applyBlock(message: TalkMessage, event: BlockEvent): TalkMessage {
  const { sequence, type, toolUseId, text, textContent } = event;
  if (event.event === "turn_complete" || event.event === "turn_spoken") return end(message, event);
  if (sequence === undefined) return message;
  if (CALL_BLOCKS.includes(type) && toolUseId !== undefined) {
    const others = message.parts.filter((part) => part.kind !== "call" || part.toolUseId !== toolUseId);
    return { ...message, parts: put(others, { kind: "call", sequence, toolUseId }) };
  }
  if (event.event === "block_delta") {
    const known = findText(message.parts, sequence);
    if (!known || text === undefined) return message;
    return settleAsides({ ...message, parts: put(message.parts, { ...known, text: known.text + text }) });
  }
  if (type !== "text" && type !== "thinking") return message;
  const whole = event.event === "block_stop" ? (textContent ?? "") : "";
  const saidTo = event.event === "block_stop" ? (findText(message.parts, sequence)?.saidTo ?? 0) : 0;
  return settleAsides({ ...message, parts: put(message.parts, { kind: type, sequence, text: whole, saidTo }) });
}

/** Sets the final state of a message. A spoken answer stays open until its speech ends. */
function end(message: TalkMessage, { event, state = "completed" }: BlockEvent): TalkMessage {
  if (event === "turn_complete" && message.isSpoken === true && message.state === "open") return message;
  return { ...message, state };
}

/** Applies one of the message's sentences. A sentence that is not in any block becomes an aside. */
export function applySentence(message: TalkMessage, sentence: string): TalkMessage {
  const text = sentence.trim();
  if (text === "") return message;
  const parts = markSaid(message.parts, text) ?? [...message.parts, { kind: "aside", text }];
  return { ...message, parts };
}

/** Marks a sentence as said. Returns `undefined` if no text part contains it. */
function markSaid(parts: readonly Part[], sentence: string): readonly Part[] | undefined {
  // A sentence contains single spaces where the text part may contain line breaks, so any whitespace matches.
  const words = sentence.split(/\s+/).map(escapeForPattern).join("\\s+");
  for (const part of parts) {
    if (part.kind !== "text") continue;
    const pattern = new RegExp(words, "g");
    pattern.lastIndex = part.saidTo;
    const found = pattern.exec(part.text);
    if (found) return put(parts, { ...part, sentenceAt: found.index, saidTo: pattern.lastIndex });
  }
  return undefined;
}

/** Removes asides whose text is now part of a text part: a sentence may arrive before the text that contains it. */
function settleAsides(message: TalkMessage): TalkMessage {
  let { parts } = message;
  for (const aside of parts)
    if (aside.kind === "aside")
      parts =
        markSaid(
          parts.filter((part) => part !== aside),
          aside.text,
        ) ?? parts;
  return parts === message.parts ? message : { ...message, parts };
}

/** Adds a call whose block was not received, because the block began before this client joined. */
export function applyCall(message: TalkMessage, toolUseId: string): TalkMessage {
  if (message.parts.some((part) => part.kind === "call" && part.toolUseId === toolUseId)) return message;
  return { ...message, parts: [...message.parts, { kind: "call", sequence: -1, toolUseId }] };
}

/** Adds a complete answer that was produced while this client was away. */
export function applyWhole(message: TalkMessage, text: string): TalkMessage {
  const state = message.state === "open" ? "completed" : message.state;
  const isEmpty = !message.parts.some(({ kind }) => kind === "text" || kind === "aside");
  const parts: readonly Part[] = isEmpty && text !== "" ? [...message.parts, { kind: "aside", text }] : message.parts;
  return { ...message, parts, state };
}

function findText(parts: readonly Part[], sequence: number) {
  const part = parts.find((each) => each.kind !== "aside" && each.sequence === sequence);
  return part?.kind === "text" || part?.kind === "thinking" ? part : undefined;
}

/**
 * Replaces the part for the same block. If there is no such part, inserts the new part before the parts for later
 * blocks.
 */
function put(parts: readonly Part[], part: Exclude<Part, { kind: "aside" }>): readonly Part[] {
  const same = parts.findIndex((each) => each.kind !== "aside" && each.sequence === part.sequence);
  if (same >= 0) return parts.with(same, part);
  const later = parts.findIndex((each) => each.kind !== "aside" && each.sequence > part.sequence);
  return later < 0 ? [...parts, part] : parts.toSpliced(later, 0, part);
}

function escapeForPattern(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
