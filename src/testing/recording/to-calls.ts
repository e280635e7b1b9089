import { buildHistory } from "../../conversation/history.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import { toMessages } from "../../llm/to-messages.ts";
import { modelCalls } from "../../scenario/playable.ts";
import { normalize, type Redact, redactEvents } from "../../scenario/redact.ts";
import type { RecordedCall } from "../cassette/cassette-file.ts";
import type { Json } from "../../model-server/step.ts";

interface RecordedTurn {
  readonly turn: TurnRecord;
  readonly before: readonly TurnRecord[];
  /** When each of the turn's blocks was stored, in milliseconds since the turn began. */
  readonly times: readonly number[];
}

/**
 * Reconstructs a turn's model calls from its stored blocks. A call's request contains only the messages, built by the
 * same function as in a session: tools and instructions are not stored. Each block is replayed as a whole at the time
 * when it was stored, which is when the model had finished it.
 */
export function toCalls({ turn, before, times }: RecordedTurn, redact: Redact): RecordedCall[] {
  return modelCalls(turn, times).map(({ blocks, start, writtenMs }, index) => {
    const sofar: TurnRecord = { ...turn, state: "running", blocks: turn.blocks.slice(0, start) };
    const request = { messages: normalize(toMessages(buildHistory([...before, sofar])), redact) };
    const [message] = toMessages([{ role: "assistant", blocks }]);
    const content = (message?.content ?? []) as unknown as readonly Json[];
    const events = toStream(`msg_${turn.position}_${index}`, content, writtenMs);
    return { path: "/v1/messages", request, status: 200, events: redactEvents(events, redact) };
  });
}

function toStream(
  id: string,
  content: readonly Json[],
  blockMs: readonly number[],
): NonNullable<RecordedCall["events"]> {
  const usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
  const message = { id, type: "message", role: "assistant", model: "recorded", content: [], stop_reason: null, usage };
  const usesTools = content.some(({ type }) => type === "tool_use");
  const at = (ms = 0, ...events: readonly Json[]) => events.map((event) => ({ ms, event }));
  return [
    ...at(blockMs[0], { type: "message_start", message }),
    ...content.flatMap((block, index) =>
      at(
        blockMs[index],
        { type: "content_block_start", index, content_block: toStart(block) },
        ...toDeltas(block).map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ),
    ),
    ...at(
      blockMs.at(-1),
      {
        type: "message_delta",
        delta: { stop_reason: usesTools ? "tool_use" : "end_turn", stop_sequence: null },
        usage,
      },
      { type: "message_stop" },
    ),
  ];
}

function toStart(block: Json): Json {
  switch (block["type"]) {
    case "text":
      return { ...block, text: "" };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    case "tool_use":
    case "server_tool_use":
      return { ...block, input: {} };
    default:
      return block;
  }
}

function toDeltas(block: Json): Json[] {
  switch (block["type"]) {
    case "text":
      return [{ type: "text_delta", text: block["text"] }];
    case "thinking":
      return [
        { type: "thinking_delta", thinking: block["thinking"] },
        { type: "signature_delta", signature: block["signature"] },
      ];
    case "tool_use":
    case "server_tool_use":
      return [{ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }];
    default:
      return [];
  }
}
