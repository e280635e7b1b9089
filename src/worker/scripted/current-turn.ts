import { isRecord } from "../../lib/json.ts";

/** A Messages API block, or whatever else a request contains in its place. */
type Block = Readonly<Record<string, unknown>>;

export interface ToolAnswer {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly content: string;
  readonly isError: boolean;
}

/** The participant's last message, and the tool results of the last step. */
export interface CurrentTurn {
  readonly question: string;
  readonly previousQuestion: string | undefined;
  readonly answers: readonly ToolAnswer[];
}

/** @param messages the `messages` of a Messages API request */
export function readCurrentTurn(messages: unknown): CurrentTurn {
  const all = (Array.isArray(messages) ? messages.filter(isRecord) : []).filter(({ role }) => role !== "system");
  const questions = all
    .filter(({ role }) => role === "user")
    .map((message) => withoutNotes(textOf(blocksOf(message))))
    .filter((text) => text !== "");
  return { question: questions.at(-1) ?? "", previousQuestion: questions.at(-2), answers: readAnswers(all) };
}

/** Returns the tool results in the last message, in call order. Returns none if a new question follows them. */
function readAnswers(messages: readonly Block[]): ToolAnswer[] {
  const [uses, results] = messages.slice(-2).map(blocksOf);
  if (!uses || !results || textOf(results).trim() !== "") return [];
  return uses.flatMap((use) => {
    const { type, id, name, input } = use;
    if (type !== "tool_use") return [];
    const result = results.find((block) => block["type"] === "tool_result" && block["tool_use_id"] === id);
    const content = result ? textOf(blocksIn(result["content"])) : "no result";
    const isError = result === undefined || result["is_error"] === true;
    return [{ name: String(name), input: isRecord(input) ? input : {}, content, isError }];
  });
}

function blocksOf({ content }: Block): readonly Block[] {
  return blocksIn(content);
}

function blocksIn(content: unknown): readonly Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map(({ type, text }) => (type === "text" && typeof text === "string" ? text : "")).join("");
}

/** Removes the worker's bracketed notes to the model, which precede the participant's text. */
function withoutNotes(text: string): string {
  return wordsOf(text.replace(/^(?:\s*\[(?:The previous|From now on)[^\]]*\])+/, "").trim());
}

/**
 * Returns the text of a message. With several participants, the model receives an object that also names the sender.
 */
function wordsOf(shown: string): string {
  if (!shown.startsWith('{"from":')) return shown;
  try {
    const { text } = JSON.parse(shown) as { readonly text?: unknown };
    return typeof text === "string" ? text : shown;
  } catch {
    return shown;
  }
}
