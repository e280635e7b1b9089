import { recorded, type Json, type ReplyOptions, type Step } from "../../../src/model-server/step.ts";

interface Bill {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** The tool that the reply uses instead of saying something. */
  readonly tool?: string;
}

let uses = 0;

/** A reply whose usage is exactly this. */
export function billed(text: string, bill: Bill, options: ReplyOptions = {}): Step {
  const { input, output, cacheRead = 0, cacheWrite = 0, tool } = bill;
  const usage = {
    input_tokens: input,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-test", content: [] };
  const id = `toolu_billed_${++uses}`;
  const [block, delta]: [Json, Json] =
    tool === undefined
      ? [
          { type: "text", text: "" },
          { type: "text_delta", text },
        ]
      : [
          { type: "tool_use", id, name: tool, input: {} },
          { type: "input_json_delta", partial_json: "{}" },
        ];
  const stopReason = tool === undefined ? "end_turn" : "tool_use";
  return recorded(
    [
      { type: "message_start", message: { ...message, usage: { ...usage, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: stopReason, stop_sequence: null },
        usage: { ...usage, output_tokens: output },
      },
      { type: "message_stop" },
    ],
    options,
  );
}
