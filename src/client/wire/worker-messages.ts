import { evictOldest } from "../../lib/evict-oldest.ts";
import type { Message, MessageBody, MessageType, SentBy } from "../../protocol/messages/messages.ts";
import { Answers } from "./answers.ts";
import type { ParleyEvents } from "../client-events.ts";
import type { Emitter } from "../emitter.ts";
import type { Unacknowledged } from "./unacknowledged.ts";
import type { ToolRequests } from "../tools/tool-requests.ts";

const REMEMBERED_NAMES = 256;

interface WorkerMessagesPorts {
  readonly unacknowledged: Unacknowledged;
  readonly requests: ToolRequests;
  readonly events: Emitter<ParleyEvents>;
}

/**
 * Messages that the SDK itself ignores. The application still receives them, like all others, through the event
 * `message`.
 */
type OnlyAsMessage = "audio_chunk" | "reasoning_step" | "memory_trace" | "commentary" | "block_event";
type Handlers = {
  readonly [Type in Exclude<SentBy<"worker">, OnlyAsMessage>]: (
    body: MessageBody<Type>,
    stanzaId: number,
    traceparent?: string,
  ) => void;
};

export class WorkerMessages {
  readonly #ports: WorkerMessagesPorts;
  readonly #answers: Answers;
  /** Tool names by call id. Needed because a result does not contain its tool's name. */
  readonly #toolNames = new Map<string, string>();
  /** Ids of open permission requests. */
  readonly #askedPermissions = new Set<string>();

  constructor(ports: WorkerMessagesPorts) {
    this.#ports = ports;
    this.#answers = new Answers((answer) => ports.events.emit("answer_end", answer));
  }

  get isAnswering(): boolean {
    return this.#answers.isOpen;
  }

  handle(message: Message, stanzaId: number, traceparent?: string): void {
    const handlers: Partial<Record<MessageType, (body: never, ...context: [number, string?]) => void>> = this.#handlers;
    handlers[message.type]?.(message.body as never, stanzaId, traceparent);
    this.#ports.events.emit("message", message);
  }

  readonly #handlers: Handlers = {
    acknowledgement: ({ acknowledgedStanzaId, success }) =>
      this.#ports.unacknowledged.acknowledge(acknowledgedStanzaId, success),
    tool_use_request: (body, stanzaId, traceparent) => {
      this.#toolNames.set(body.id, body.toolName);
      evictOldest(this.#toolNames, REMEMBERED_NAMES);
      this.#ports.requests.handle(body, stanzaId, traceparent);
    },
    tool_use_cancel: (body) => this.#ports.requests.cancel(body),
    tool_use_result: (body) =>
      this.#emit("tool_result", { ...body, toolName: this.#toolNames.get(body.id), ranBy: "server" }),
    tool_call_state: (body) => this.#emit("tool_state", body),
    start_answer: (body) => {
      this.#answers.begin(body);
      this.#emit("answer_start", body);
    },
    assistant_sentence: (body) => {
      this.#emit("sentence", body);
      this.#answers.add(body);
    },
    assistant_message: (body) => this.#answers.addWhole(body),
    transcription: (body) => this.#emit("transcription", body),
    permission_request: (body) => {
      this.#askedPermissions.add(body.id);
      this.#emit("permission_request", body);
    },
    permission_response: ({ permissionId: id, response, state = response === "reject" ? "rejected" : "approved" }) => {
      if (this.#askedPermissions.delete(id)) this.#emit("permission_closed", { id, state });
    },
    configuration: (body) => this.#emit("configuration", body),
    error_message: ({ code, message, originatingId, retryAfterMs }) => {
      if (retryAfterMs !== undefined) return this.#ports.unacknowledged.sendAgainAfter(retryAfterMs);
      this.#emit("error", { code, message, ...(originatingId !== undefined && { originatingId }) });
    },
  };

  #emit<Name extends keyof ParleyEvents>(event: Name, value: ParleyEvents[Name]): void {
    this.#ports.events.emit(event, value);
  }
}
