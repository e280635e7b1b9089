/** The part of aimock's message that is looked at here; it has turned Anthropic's blocks into this. */
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
}

/** Where the conversation stands: the participant spoke, or the tools of the last step have answered. */
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
 * The answers at the end, in call order. A user message that holds results and then a text (the participant spoke after
 * an interrupted turn) arrives here with the text before the results: it is a new question, with no answers yet.
 */
function readAnswers(messages: readonly MockMessage[]): ToolAnswer[] {
  const callIndex = messages.findLastIndex((message) => message.role !== "tool");
  const calls = messages[callIndex]?.tool_calls;
  if (calls === undefined) return [];
  const results = messages.slice(callIndex + 1);
  if (results.length === 0) return [];
  return calls.map((call) => {
    const result = results.find((message) => message.tool_call_id === call.id);
    return {
      name: call.function.name,
      input: call.function.arguments,
      content: result ? messageText(result) : "no result",
    };
  });
}

function messageText({ content }: MockMessage): string {
  if (content === null) return "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

/** The worker's own remarks to the model stand in brackets before the participant's words. */
function withoutNotes(text: string): string {
  return text.replace(/^(?:\s*\[The previous[^\]]*\])+/, "").trim();
}
