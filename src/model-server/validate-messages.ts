import { isDeepStrictEqual } from "node:util";
import { compactionEdit } from "./compaction.ts";
import { isThinking, type IssuedContent } from "./issued-content.ts";
import { listOf, type Message } from "./message.ts";
import { validateMedia } from "./validate-media.ts";
import type { Json } from "./step.ts";
import { validateSystemMessages } from "./validate-system-messages.ts";
import { validateServerTools } from "./validate-server-tools.ts";

/** The fields that the API allows, by block type. Blocks of other types may have any field. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "citations", "cache_control"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: ["id", "name", "input", "caller", "toolset_name", "cache_control"],
  server_tool_use: ["id", "name", "input", "caller", "cache_control"],
  tool_result: ["tool_use_id", "content", "is_error", "toolset_name", "cache_control"],
};
const USER_TYPES = ["text", "image", "document", "search_result", "tool_result", "container_upload"];
const ASSISTANT_TYPES = ["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "container_upload"];

/**
 * Yields violations of the rules for `messages`, in the API's words. Like the API, it first merges neighboring messages
 * of the same role.
 */
export function* validateMessages(body: Json, issued: IssuedContent, betas = ""): Generator<string> {
  const all = mergeNeighbors(listOf(body["messages"]));
  yield* validateSystemMessages(body, all, betas);
  const messages = all.filter(({ role }) => role !== "system");
  if (messages.length === 0) yield "messages: at least one message is required";
  if (messages[0]?.role === "assistant") yield 'messages: first message must use the "user" role';
  const compacts = compactionEdit(body) !== undefined;
  for (const [index, message] of messages.entries()) yield* validateBlocks(message, index, { issued, compacts });
  yield* validateToolPairs(messages);
  yield* validateServerTools(body, messages, issued);
  yield* validateThinkingKept(body, messages, issued);
  const hasToolBlocks = messages.some(({ content }) =>
    content.some(({ type }) => type === "tool_use" || type === "tool_result"),
  );
  if (hasToolBlocks && listOf(body["tools"]).length === 0)
    yield "Requests which include `tool_use` or `tool_result` blocks must define tools";
  const last = messages.at(-1);
  if (last?.role === "assistant" && !issued.endsInPause(last.content)) {
    yield "This model does not support assistant message prefill. The conversation must end with a user message.";
  }
}

function mergeNeighbors(raw: readonly Json[]): Message[] {
  const merged: Message[] = [];
  for (const message of raw) {
    const role = String(message["role"]);
    const { content: sent } = message;
    const content = typeof sent === "string" ? [{ type: "text", text: sent }] : listOf(sent);
    const last = merged.at(-1);
    if (last?.role === role) merged[merged.length - 1] = { role, content: [...last.content, ...content] };
    else merged.push({ role, content });
  }
  return merged;
}

function* validateBlocks(
  { role, content }: Message,
  at: number,
  { issued, compacts }: { readonly issued: IssuedContent; readonly compacts: boolean },
): Generator<string> {
  if (role !== "user" && role !== "assistant") yield `messages.${at}.role: Input should be 'user' or 'assistant'`;
  if (content.length === 0) yield `messages.${at}: all messages must have non-empty content`;
  const types = role === "user" ? USER_TYPES : ASSISTANT_TYPES;
  for (const [index, block] of content.entries()) {
    const type = String(block["type"]);
    const path = `messages.${at}.content.${index}`;
    const isKnown =
      types.includes(type) ||
      (role === "assistant" && type === "compaction" && compacts) ||
      (role === "assistant" && ((type !== "compaction" && issued.hasType(type)) || type.endsWith("_tool_result")));
    if (!isKnown) yield `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`;
    const fields = FIELDS[type];
    for (const key of fields ? Object.keys(block) : []) {
      if (key !== "type" && !fields?.includes(key)) yield `${path}.${type}.${key}: Extra inputs are not permitted`;
    }
    yield* validateBlock(block, path, issued);
  }
  if (role === "assistant" && isThinking(content.at(-1) ?? {}) && !issued.endsInPause(content)) {
    yield `messages.${at}: The final block in an assistant message cannot be \`${String(content.at(-1)?.["type"])}\`.`;
  }
}

function* validateBlock(block: Json, path: string, issued: IssuedContent): Generator<string> {
  const { type } = block;
  if (type === "text" && block["text"] === "") yield `${path}.text: text content blocks must be non-empty`;
  if (type === "text" && String(block["text"]).trim() === "")
    yield `${path}.text: text content blocks must contain non-whitespace text`;
  if (type === "thinking" && !issued.hasThinking(block)) yield `${path}: Invalid \`signature\` in \`thinking\` block`;
  if (type === "compaction" && !issued.isFaithful(block)) yield `${path}: Invalid \`compaction\` block`;
  if (type === "redacted_thinking" && !issued.hasThinking(block))
    yield `${path}: Invalid \`data\` in \`redacted_thinking\` block`;
  if (type === "tool_use" || type === "server_tool_use") {
    const pattern = type === "tool_use" ? /^[a-zA-Z0-9_-]+$/ : /^srvtoolu_[a-zA-Z0-9_]+$/;
    if (!pattern.test(String(block["id"]))) yield `${path}.${type}.id: String should match pattern '${pattern.source}'`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(block["name"])))
      yield `${path}.${type}.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`;
    const isObject = typeof block["input"] === "object" && block["input"] !== null && !Array.isArray(block["input"]);
    if (!isObject) yield `${path}.${type}.input: Input should be a valid dictionary`;
  }
  if (type === "tool_result") {
    const content = block["content"] ?? "";
    if (typeof content !== "string" && !Array.isArray(content))
      yield `${path}.tool_result.content: Input should be a valid string`;
    if (block["is_error"] === true && (content as string).length === 0)
      yield `${path}.tool_result: content cannot be empty if \`is_error\` is true`;
  }
  yield* validateMedia(block, path);
}

function* validateToolPairs(messages: readonly Message[]): Generator<string> {
  const seen = new Set<unknown>();
  for (const [at, { role, content }] of messages.entries()) {
    const uses = content.filter(({ type }) => type === "tool_use");
    for (const { id } of uses) {
      if (seen.has(id)) yield `messages.${at}: \`tool_use\` ids must be unique`;
      seen.add(id);
    }
    const firstUse = content.findIndex(({ type }) => type === "tool_use");
    const hasTextAfter = firstUse >= 0 && content.slice(firstUse).some(({ type }) => type === "text");
    const next = messages[at + 1];
    const results = next?.role === "user" ? leadingResults(next.content) : [];
    const missing = hasTextAfter ? uses : uses.filter(({ id }) => !results.includes(id));
    if (role === "assistant" && missing.length > 0) {
      yield `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.map(({ id }) => String(id)).join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    }
    yield* validateResults(content, at, messages[at - 1]?.content ?? []);
  }
}

function* validateResults(content: readonly Json[], at: number, before: readonly Json[]): Generator<string> {
  const used = before.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  const answered = new Set<unknown>();
  for (const [index, block] of content.entries()) {
    if (block["type"] !== "tool_result") continue;
    const id = String(block["tool_use_id"]);
    if (!used.includes(id)) {
      yield `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    if (answered.has(id))
      yield `messages.${at}.content.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    answered.add(id);
  }
}

/**
 * Returns the ids of the results at the start of a user message. The API counts only these as "immediately after" their
 * tool use.
 */
function leadingResults(content: readonly Json[]): unknown[] {
  const end = content.findIndex(({ type }) => type !== "tool_result");
  return content.slice(0, end < 0 ? undefined : end).map((block) => block["tool_use_id"]);
}

/**
 * Checks a rule for tool loops with thinking: the message that called the tools must keep all of its thinking. In the
 * mode `adaptive`, the message may omit all of its thinking instead.
 */
function* validateThinkingKept(body: Json, messages: readonly Message[], issued: IssuedContent): Generator<string> {
  const mode = (body["thinking"] as Json | undefined)?.["type"];
  const [call, answer] = messages.slice(-2);
  if (mode === undefined || mode === "disabled" || call?.role !== "assistant" || !answer) return;
  for (const { type, id } of call.content) {
    const expected = type === "tool_use" ? issued.thinkingOf(String(id)) : [];
    const kept = call.content.filter(isThinking);
    if (mode === "adaptive" && kept.length === 0) continue;
    if (expected.some((block) => !kept.some((each) => isDeepStrictEqual(each, block)))) {
      yield `messages.${messages.length - 2}.content: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
    }
  }
}
