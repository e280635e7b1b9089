import { ERROR_MARK } from "./mark-errors.ts";

/** The fields of aimock's messages that are read here. aimock makes them from Anthropic's blocks. */
export interface MockMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly { readonly text?: string }[] | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

export interface ToolAnswer {
  readonly name: string;
  readonly input: string;
  readonly content: string;
  readonly isError: boolean;
}

/** The participant's last message, and the tool results that have come since the last step. */
export interface CurrentTurn {
  readonly question: string;
  readonly previousQuestion: string | undefined;
  readonly answers: readonly ToolAnswer[];
}

export function readCurrentTurn(messages: readonly MockMessage[]): CurrentTurn {
  const questions = messages
    .filter((message) => message.role === "user")
    .map((message) => withoutNotes(messageText(message)));
  const answers = readAnswers(messages);
  return { question: questions.at(-1) ?? "", previousQuestion: questions.at(-2), answers };
}

/**
 * The tool results at the end, in call order; none after a new question. aimock puts a user message's text before its
 * tool results, so a question that follows the results of an interrupted turn stands before them.
 */
function readAnswers(messages: readonly MockMessage[]): ToolAnswer[] {
  const callIndex = messages.findLastIndex((message) => message.role !== "tool");
  const calls = messages[callIndex]?.tool_calls;
  if (calls === undefined) return [];
  const results = messages.slice(callIndex + 1);
  if (results.length === 0) return [];
  return calls.map((call) => {
    const result = results.find((message) => message.tool_call_id === call.id);
    const whole = result ? messageText(result) : "no result";
    const isError = result === undefined || whole.startsWith(ERROR_MARK);
    return {
      name: call.function.name,
      input: call.function.arguments,
      content: whole.startsWith(ERROR_MARK) ? whole.slice(ERROR_MARK.length) : whole,
      isError,
    };
  });
}

function messageText({ content }: MockMessage): string {
  if (content === null) return "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

/** Removes the worker's notes to the model, which stand in brackets before the participant's words. */
function withoutNotes(text: string): string {
  return wordsOf(text.replace(/^(?:\s*\[(?:The previous|From now on)[^\]]*\])+/, "").trim());
}

/** The words of a message. With several participants it is shown to the model as an object with its sender. */
function wordsOf(shown: string): string {
  if (!shown.startsWith('{"from":')) return shown;
  try {
    const { text } = JSON.parse(shown) as { readonly text?: unknown };
    return typeof text === "string" ? text : shown;
  } catch {
    return shown;
  }
}
