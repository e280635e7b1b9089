import { listOf } from "./message.ts";
import { type Json, rawBlock, type StepBlock } from "./step.ts";

const TYPE = "compact_20260112";
const USUAL_TRIGGER = 150_000;

/** Returns the request's edit that enables the API's own summaries. */
export function compactionEdit(body: Json): Json | undefined {
  return listOf((body["context_management"] as Json | undefined)?.["edits"]).find(({ type }) => type === TYPE);
}

/**
 * Returns the request as the model sees it: without anything before the newest summary. Failed summaries are ignored.
 */
export function afterCompaction(body: Json): Json {
  const messages = listOf(body["messages"]);
  const isSummary = (block: Json) => block["type"] === "compaction" && typeof block["content"] === "string";
  const at = messages.findLastIndex(({ content }) => listOf(content).some(isSummary));
  const message = messages[at];
  if (!message) return body;
  const content = listOf(message["content"]);
  const rest = { ...message, content: content.slice(content.findLastIndex(isSummary)) };
  return { ...body, messages: [rest, ...messages.slice(at + 1)] };
}

/** Returns the summary block that the answer begins with, if the request exceeds the trigger's number of tokens. */
export function compactionOf(body: Json, tokens: number): StepBlock | undefined {
  const edit = compactionEdit(body);
  const trigger = Number((edit?.["trigger"] as Json | undefined)?.["value"] ?? USUAL_TRIGGER);
  if (!edit || tokens <= trigger) return undefined;
  const content = `Summary of ${tokens} tokens.`;
  const start = { type: "compaction", content: null, encrypted_content: null };
  const delta = { type: "compaction_delta", content, encrypted_content: `enc_${tokens}` };
  return rawBlock(start, delta);
}
