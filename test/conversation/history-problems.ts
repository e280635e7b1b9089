import type { HistoryBlock, HistoryMessage } from "../../src/conversation/history.ts";
import { toMessages } from "../../src/llm/to-messages.ts";
import { IssuedContent } from "../../src/model-server/issued-content.ts";
import type { Json } from "../../src/model-server/step.ts";
import { validateMessages } from "../../src/model-server/validate-messages.ts";

const TOOLS = [{ name: "book" }, { name: "web_search" }, { name: "m" }];

/**
 * Describes each of the API's rules for messages that the history breaks, mostly in the words of the strict model
 * server.
 */
export function problemsOf(
  history: readonly HistoryMessage[],
  { written, paused = [] }: { written: readonly HistoryBlock[]; paused?: readonly HistoryBlock[] },
): string[] {
  const issued = new IssuedContent();
  issued.record(starts(written));
  issued.record([...starts(paused), { type: "message_delta", delta: { stop_reason: "pause_turn" } }]);
  const messages = toMessages(history) as unknown as Json[];
  const roles = messages.map(({ role }) => role);
  const repeated = roles.flatMap((role, index) =>
    role === roles[index - 1] ? [`messages.${index}: role ${String(role)} twice`] : [],
  );
  return [...repeated, ...validateMessages({ messages, tools: TOOLS }, issued)];
}

/**
 * Returns the start events with which the API streamed these blocks. Leaves out thinking blocks that were cut off,
 * because the API never completed them.
 */
function starts(blocks: readonly HistoryBlock[]): Json[] {
  const whole = blocks.filter(
    ({ blockType, content }) =>
      (blockType !== "thinking" || content?.["signature"]) && (blockType !== "redacted_thinking" || content?.["data"]),
  );
  const sent = toMessages([{ role: "assistant", blocks: whole }]).flatMap(
    ({ content }) => content as unknown as Json[],
  );
  return sent.map((content_block, index) => ({ type: "content_block_start", index, content_block }));
}
