import fc from "fast-check";
import { toolResultBlock, toolUseId, type TurnBlock } from "../../src/conversation/block.ts";
import type { HistoryBlock } from "../../src/conversation/history.ts";
import type { TurnRecord, TurnState } from "../../src/conversation/turn-record.ts";

const block = (blockType: string, textContent: string | null, content: HistoryBlock["content"]): HistoryBlock => ({
  blockType,
  textContent,
  content,
});

/**
 * The ids of tool uses. There are only a few, so that the same id occurs several times within a turn and in other
 * turns.
 */
const clientId = fc.constantFrom("toolu_1", "toolu_2", "toolu_3", "toolu_4");
const serverId = fc.constantFrom("srvtoolu_1", "srvtoolu_2", "srvtoolu_3");

const text = fc.constantFrom("Hello.", "So", "", " \n").map((said) => block("text", said, null));
const thinking = fc.constantFrom("sig_1", "sig_2", "").map((signature) => block("thinking", "Hm", { signature }));
const cutThinking = fc.constant(block("thinking", "Hm", null));
const redacted = fc.constantFrom("data_1", "").map((data) => block("redacted_thinking", null, { data }));
const toolUse = clientId.map((id) => block("tool_use", null, { tool_use_id: id, tool_name: "book", input: {} }));
const toolResult = fc
  .record({ id: clientId, content: fc.constantFrom("ok", ""), isError: fc.boolean() })
  .map(({ id, ...answer }) => toolResultBlock(id, answer));
const serverUse = serverId.map((id) =>
  block("server_tool_use", null, { tool_use_id: id, tool_name: "web_search", input: {} }),
);
const serverResult = serverId.map((id) =>
  block("server_tool_result", null, { type: "web_search_tool_result", tool_use_id: id, content: [] }),
);
const mcpUse = fc.constant(block("mcp_tool_use", null, { type: "mcp_tool_use", id: "mcp_1", name: "m", input: {} }));
const mcpResult = fc.constant(
  block("mcp_tool_result", null, { type: "mcp_tool_result", tool_use_id: "mcp_1", content: [] }),
);
const unknown = fc.constant(block("future_block", null, { type: "future_block", anything: [1] }));
const nameless = fc.constant(block("tool_use", null, { tool_use_id: "", tool_name: "book", input: {} }));

/**
 * Any block in any place. No model writes this, but a crash, a bug or a manual edit of the database may leave it
 * behind.
 */
const soup = fc.array(
  fc.oneof(
    text,
    thinking,
    cutThinking,
    redacted,
    toolUse,
    toolResult,
    serverUse,
    serverResult,
    mcpUse,
    mcpResult,
    unknown,
    nameless,
  ),
  { maxLength: 10 },
);

/**
 * One model call as a model writes it, followed by the results of its tools. Some results are missing, repeated or out
 * of order.
 */
const step = fc
  .record({
    before: fc.array(fc.oneof(thinking, redacted, text), { maxLength: 3 }),
    server: fc.array(fc.tuple(serverUse, fc.boolean()), { maxLength: 2 }),
    uses: fc.array(toolUse, { maxLength: 3 }),
    after: fc.array(fc.oneof({ weight: 4, arbitrary: unknown }, thinking, text), { maxLength: 1 }),
    answers: fc.array(fc.nat(5), { maxLength: 4 }),
  })
  .map(({ before, server, uses, after, answers }) => {
    const idOf = (use: HistoryBlock | undefined) => (use && toolUseId(use)) ?? "";
    const calls = server.flatMap(([use, isAnswered]) => {
      const result = { type: "web_search_tool_result", tool_use_id: idOf(use), content: [] };
      return isAnswered ? [use, block("server_tool_result", null, result)] : [use];
    });
    const results = answers
      .filter((at) => at < uses.length)
      .map((at) => toolResultBlock(idOf(uses[at]), { content: `answer ${at}`, isError: false }));
    return [...before, ...calls, ...uses, ...after, ...results];
  });

/** Damages a list of blocks: cuts it off, drops an item or repeats one. */
const harmed = (blocks: fc.Arbitrary<HistoryBlock[]>) =>
  fc.tuple(blocks, fc.constantFrom("whole", "cut", "lost", "twice"), fc.nat(20)).map(([all, harm, at]) => {
    if (harm === "cut") return all.slice(0, at);
    if (harm === "lost") return all.toSpliced(at, 1);
    return harm === "twice" ? [...all.slice(0, at + 1), ...all.slice(at)] : all;
  });

const steps = harmed(fc.array(step, { maxLength: 4 }).map((each) => each.flat()));
const input = fc.array(
  fc.constantFrom("Hi", "", "  ").map((said) => ({ type: "text" as const, text: said })),
  {
    maxLength: 2,
  },
);

export function turn(position: number, state: TurnState, fields: Partial<TurnRecord>): TurnRecord {
  const ids = { id: `turn-${position}`, messageId: `a${position}`, parentMessageId: null, participantIdentity: "user" };
  return { ...ids, position, input: [], blocks: [], ...fields, state };
}

export function placed(blocks: readonly HistoryBlock[]): TurnBlock[] {
  return blocks.map((each, sequence) => ({ sequence, ...each }));
}

const state = fc.constantFrom<TurnState>("running", "completed", "interrupted", "failed", "cancelled");

/** What was heard of a spoken answer before it was cut off. Only used for finished turns. */
const heard = fc.option(fc.constantFrom("", "H", "Hello. S", "Hello. So and more than was said."), { nil: undefined });

/** A conversation after any failure. A `running` turn that is not the last was never repaired. */
export const turns: fc.Arbitrary<TurnRecord[]> = fc
  .array(fc.record({ state, input, heard, blocks: fc.oneof({ weight: 2, arbitrary: steps }, soup) }), { maxLength: 4 })
  .map((records) =>
    records.map(({ blocks, heard: words, ...fields }, index) => {
      const spoken = fields.state === "running" ? {} : { heard: words };
      return turn(index + 1, fields.state, { ...fields, ...spoken, blocks: placed(blocks) });
    }),
  );

/** A complete message that ended with `pause_turn`, with its own ids. */
export const pausedBlocks: fc.Arbitrary<HistoryBlock[]> = fc
  .array(fc.constantFrom("thinking", "text", "search"), { minLength: 1, maxLength: 4 })
  .map((kinds) => [
    ...kinds.flatMap((kind, at) => {
      if (kind === "thinking") return [block("thinking", "Hm", { signature: `sig_p${at}` })];
      if (kind === "text") return [block("text", `Part ${at}.`, null)];
      const id = `srvtoolu_p${at}`;
      return [
        block("server_tool_use", null, { tool_use_id: id, tool_name: "web_search", input: {} }),
        block("server_tool_result", null, { type: "web_search_tool_result", tool_use_id: id, content: [] }),
      ];
    }),
    block("server_tool_use", null, { tool_use_id: "srvtoolu_open", tool_name: "web_search", input: {} }),
  ]);
