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

/** The messages of a request to the model, by default of the last one. */
export function messagesTo(agent: TestAgent, request = -1): readonly SentMessage[] {
  return (agent.model.requests.at(request)?.body["messages"] ?? []) as readonly SentMessage[];
}

/** Each message of the last request in a line: its role, and what `show` says of its blocks. */
export function outline(
  agent: TestAgent,
  show: (block: SentBlock) => string = ({ type, text }) => text ?? type,
): string[] {
  return messagesTo(agent).map(({ role, content }) => `${role}: ${content.map(show).join(", ")}`);
}

/** All tool results of the last request, in order. */
export function allResults(agent: TestAgent): SentBlock[] {
  return messagesTo(agent).flatMap(({ content }) => content.filter(isResult));
}

/** What the model was told of the tool uses of the step before its last request, in order. */
export function toolResults(agent: TestAgent): { readonly content: string | undefined; readonly isError: boolean }[] {
  const last = messagesTo(agent).findLast(({ content }) => content.some(isResult));
  return (last?.content ?? []).filter(isResult).map(({ content, is_error: isError = false }) => ({ content, isError }));
}

/** The content of the tool result that begins the last message. */
export function lastContent(agent: TestAgent): unknown {
  return messagesTo(agent).at(-1)?.content[0]?.content;
}

/** The names of the tools that a request offered to the model, by default the last one. */
export function offeredTools(agent: TestAgent, request = -1): string[] {
  return ((agent.model.requests.at(request)?.body["tools"] ?? []) as { name: string }[]).map(({ name }) => name);
}
