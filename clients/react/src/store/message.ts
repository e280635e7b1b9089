import type { MessageBody } from "@parley/client";

/** A piece of a message, in the order in which it is shown. */
export type Part =
  | {
      readonly kind: "text" | "thinking";
      readonly sequence: number;
      readonly text: string;
      /** How many characters of `text` have come as sentences; in a spoken answer, how many are heard already. */
      readonly saidTo: number;
    }
  | { readonly kind: "call"; readonly sequence: number; readonly toolUseId: string }
  /** Words of the worker that are in no block: a filler, a question. */
  | { readonly kind: "aside"; readonly text: string };

export type MessageState = "sending" | "sent" | "open" | "completed" | "interrupted" | "failed" | "cancelled";

/** What one side has said. Immutable: each change makes a new object. */
export interface TalkMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** The identity of another participant who has said it; absent for this one and the agent. */
  readonly from?: string;
  /** Unix ms, when this client first knew of it. */
  readonly at: number;
  readonly parts: readonly Part[];
  /** The names or media types of its attachments. */
  readonly attachments?: readonly string[];
  readonly state: MessageState;
  /** In an answer: the id of the message that it answers; absent when the agent began. */
  readonly replyTo?: string;
  /** Whether an answer is spoken, too. */
  readonly isSpoken?: boolean;
  /** Why it failed. */
  readonly problem?: string;
}

type BlockEvent = MessageBody<"block_event">;

const CALL_BLOCKS: readonly (string | undefined)[] = ["tool_use", "server_tool_use"];

/** The text of a message, without its calls. */
export function textOf({ parts }: TalkMessage): string {
  return parts.flatMap((part) => (part.kind === "text" || part.kind === "aside" ? part.text : [])).join(" ");
}

/** The message after an event of one of its blocks; the same object when the event changes nothing that is shown. */
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

/** A spoken answer stays open until its speech has ended. */
function end(message: TalkMessage, { event, state = "completed" }: BlockEvent): TalkMessage {
  if (event === "turn_complete" && message.isSpoken === true && message.state === "open") return message;
  return { ...message, state };
}

/** The message after one of its sentences has come. Words that stand in no block are an aside. */
export function applySentence(message: TalkMessage, sentence: string): TalkMessage {
  const text = sentence.trim();
  if (text === "") return message;
  const parts = markSaid(message.parts, text) ?? [...message.parts, { kind: "aside", text }];
  return { ...message, parts };
}

/** The parts with a sentence marked as said; `undefined` when no text has it. */
function markSaid(parts: readonly Part[], sentence: string): readonly Part[] | undefined {
  // Sentences have one blank where a text may have line breaks.
  const words = sentence.split(/\s+/).map(escapeForPattern).join("\\s+");
  for (const part of parts) {
    if (part.kind !== "text") continue;
    const pattern = new RegExp(words, "g");
    pattern.lastIndex = part.saidTo;
    if (pattern.exec(part.text)) return put(parts, { ...part, saidTo: pattern.lastIndex });
  }
  return undefined;
}

/** Removes asides that are no asides: a sentence may come before the text that it is from. */
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

/** The message with a call whose block has not been seen: it began before this client came. */
export function applyCall(message: TalkMessage, toolUseId: string): TalkMessage {
  if (message.parts.some((part) => part.kind === "call" && part.toolUseId === toolUseId)) return message;
  return { ...message, parts: [...message.parts, { kind: "call", sequence: -1, toolUseId }] };
}

/** The message with a whole answer, which was given while this client was away. */
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

/** Replaces the part of the same block, or inserts the part before the first one of a later block. */
function put(parts: readonly Part[], part: Exclude<Part, { kind: "aside" }>): readonly Part[] {
  const same = parts.findIndex((each) => each.kind !== "aside" && each.sequence === part.sequence);
  if (same >= 0) return parts.with(same, part);
  const later = parts.findIndex((each) => each.kind !== "aside" && each.sequence > part.sequence);
  return later < 0 ? [...parts, part] : parts.toSpliced(later, 0, part);
}

function escapeForPattern(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
