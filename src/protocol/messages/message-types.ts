/** Names and wire numbers. 17 to 99 belong to other implementations of the protocol. */
export const MESSAGE_TYPES = {
  error_message: 1,
  user_message: 2,
  assistant_message: 3,
  audio_chunk: 4,
  reasoning_step: 5,
  tool_use_request: 6,
  tool_use_result: 7,
  acknowledgement: 8,
  transcription: 9,
  control_stop: 10,
  control_variation: 11,
  configuration: 12,
  start_answer: 13,
  memory_trace: 14,
  commentary: 15,
  assistant_sentence: 16,
  tool_call_state: 100,
  permission_request: 101,
  permission_response: 102,
  tool_use_cancel: 103,
  tool_use_progress: 104,
  block_event: 105,
} as const;
export type MessageType = keyof typeof MESSAGE_TYPES;

/** Types that go only to a client whose Configuration named the feature. */
export const REQUIRED_FEATURES = {
  reasoning_step: "reasoning_steps",
  tool_call_state: "tool_call_state",
  permission_request: "permissions",
  permission_response: "permissions",
  tool_use_cancel: "tool_use_cancel",
  tool_use_progress: "tool_use_progress",
  block_event: "blocks",
} as const satisfies Partial<Record<MessageType, string>>;

/** Every feature that a Configuration may name; the worker's names all. `claims`: `either` is claimed by Ack. */
export const FEATURES: readonly string[] = [...new Set([...Object.values(REQUIRED_FEATURES), "claims"])];

const NAMES: ReadonlyMap<number, MessageType> = new Map(
  Object.entries(MESSAGE_TYPES).map(([name, number]) => [number, name as MessageType]),
);

export function messageTypeOf(number: number): MessageType | undefined {
  return NAMES.get(number);
}
