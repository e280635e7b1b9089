import { keepNewest } from "../../lib/keep-newest.ts";
import { type Message } from "../../protocol/messages/messages.ts";
import { type Acknowledgements } from "./acknowledgements.ts";
import { Answers } from "./answers.ts";
import { type ParleyEvents } from "../client-events.ts";
import { type Emitter } from "../emitter.ts";
import { type Unacknowledged } from "./unacknowledged.ts";
import { type ToolRequests } from "../tools/tool-requests.ts";

const REMEMBERED_NAMES = 256;

interface WorkerMessagesPorts {
  readonly acknowledgements: Acknowledgements;
  readonly unacknowledged: Unacknowledged;
  readonly requests: ToolRequests;
  readonly events: Emitter<ParleyEvents>;
}

/** What each message of the worker does here. */
export class WorkerMessages {
  readonly #ports: WorkerMessagesPorts;
  readonly #answers: Answers;
  /** Of the calls we heard of: a result does not say its tool's name. */
  readonly #toolNames = new Map<string, string>();
  /** Permissions that we were asked for, and that wait still. */
  readonly #askedPermissions = new Set<string>();

  constructor(ports: WorkerMessagesPorts) {
    this.#ports = ports;
    this.#answers = new Answers((answer) => ports.events.emit("answer_end", answer));
  }

  get isAnswering(): boolean {
    return this.#answers.isOpen;
  }

  handle(message: Message, stanzaId: number, traceparent?: string): void {
    const { acknowledgements, unacknowledged, requests, events } = this.#ports;
    switch (message.type) {
      case "acknowledgement":
        unacknowledged.acknowledge(message.body.acknowledgedStanzaId);
        acknowledgements.handle(message.body.acknowledgedStanzaId, message.body.success);
        break;
      case "tool_use_request":
        this.#noteToolName(message.body.id, message.body.toolName);
        requests.handle(message.body, stanzaId, traceparent);
        break;
      case "tool_use_cancel":
        requests.cancel(message.body);
        break;
      case "tool_use_result": {
        const toolName = this.#toolNames.get(message.body.id);
        events.emit("tool_result", { ...message.body, toolName, ranBy: "server" });
        break;
      }
      case "tool_call_state":
        events.emit("tool_state", message.body);
        break;
      case "start_answer":
        this.#answers.begin(message.body);
        events.emit("answer_start", message.body);
        break;
      case "assistant_sentence":
        events.emit("sentence", message.body);
        this.#answers.add(message.body);
        break;
      case "transcription":
        events.emit("transcription", message.body);
        break;
      case "permission_request":
        this.#askedPermissions.add(message.body.id);
        events.emit("permission_request", message.body);
        break;
      case "permission_response": {
        const { permissionId: id, response, state = response === "reject" ? "rejected" : "approved" } = message.body;
        if (this.#askedPermissions.delete(id)) events.emit("permission_closed", { id, state });
        break;
      }
      case "configuration":
        events.emit("configuration", message.body);
        break;
      case "error_message": {
        const { code, message: text, originatingId, retryAfterMs } = message.body;
        if (retryAfterMs !== undefined) {
          unacknowledged.sendAgainAfter(retryAfterMs);
          break;
        }
        events.emit("error", { code, message: text, ...(originatingId !== undefined && { originatingId }) });
        break;
      }
      default:
    }
    events.emit("message", message);
  }

  #noteToolName(id: string, toolName: string): void {
    this.#toolNames.set(id, toolName);
    keepNewest(this.#toolNames, REMEMBERED_NAMES);
  }
}
