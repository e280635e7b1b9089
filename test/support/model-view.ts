import type { TestAgent } from "./agent.ts";

interface SentBlock {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string;
  readonly is_error?: boolean;
}

interface SentMessage {
  readonly role: string;
  readonly content: readonly SentBlock[];
}

const isResult = ({ type }: SentBlock) => type === "tool_result";

/** The messages in a request to the model, by default the last request. */
export function messagesTo(agent: TestAgent, request = -1): readonly SentMessage[] {
  return (agent.model.requests.at(request)?.body["messages"] ?? []) as readonly SentMessage[];
}

/** One line for each message in the last request: its role, and what `show` returns for its blocks. */
export function outline(
  agent: TestAgent,
  show: (block: SentBlock) => string = ({ type, text }) => text ?? type,
): string[] {
  return messagesTo(agent).map(({ role, content }) => `${role}: ${content.map(show).join(", ")}`);
}

/** All tool results in the last request, in order. */
export function allResults(agent: TestAgent): SentBlock[] {
  return messagesTo(agent).flatMap(({ content }) => content.filter(isResult));
}

/** The results for the last step's tool uses, as shown to the model, in order. */
export function toolResults(agent: TestAgent): { readonly content: string | undefined; readonly isError: boolean }[] {
  const last = messagesTo(agent).findLast(({ content }) => content.some(isResult));
  return (last?.content ?? []).filter(isResult).map(({ content, is_error: isError = false }) => ({ content, isError }));
}

/** The content of the tool result at the start of the last message. */
export function lastContent(agent: TestAgent): unknown {
  return messagesTo(agent).at(-1)?.content[0]?.content;
}

/** The names of the tools offered in a request to the model, by default the last request. */
export function offeredTools(agent: TestAgent, request = -1): string[] {
  return ((agent.model.requests.at(request)?.body["tools"] ?? []) as { name: string }[]).map(({ name }) => name);
}
