import { AppError } from "../../errors/app-error.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { ReceivedMessage } from "../../protocol/codec/codec.ts";
import { decodeEnvelope } from "../../protocol/codec/decode-envelope.ts";
import { MalformedMessageError } from "../../protocol/messages/parse-message.ts";
import {
  isSentBy,
  type Message,
  type MessageBody,
  type MessageType,
  type SentBy,
} from "../../protocol/messages/messages.ts";
import type { Outbox } from "../wire/outbox.ts";
import type { ParticipantState } from "../participants/participant-state.ts";

/** All messages that clients send, except audio chunks: audio comes only from LiveKit's tracks. */
type Handled = Exclude<SentBy<"client">, "audio_chunk">;
/**
 * The handlers, by message type. For messages in `ACKNOWLEDGED_LATE`, the Ack waits for the promise that the handler
 * returns; all others are acknowledged first. A rejected promise is not reported, because the handler itself replies to
 * the sender.
 */
type HandlersByType = {
  readonly [Type in Handled]: (
    from: ParticipantState,
    body: MessageBody<Type>,
    meta: JsonObject,
  ) => Promise<void> | undefined | void;
};

/** How the worker handles each client message. Handlers reply to errors themselves or throw an `AppError`. */
export interface MessageHandlers extends HandlersByType {
  /** Called for a result that could not be decoded, so that its call does not keep waiting. */
  readonly onUnreadableResult: (from: ParticipantState, callId: string, error: AppError) => void;
}

/**
 * Messages that can be refused. Their Ack follows the ErrorMessage of a refusal, so that the Ack is not mistaken for
 * acceptance.
 */
const ACKNOWLEDGED_LATE: readonly (MessageType | undefined)[] = [
  "user_message",
  "control_stop",
  "control_variation",
  "permission_response",
];
/** How long a client waits before resending an unstored message. Another worker may serve the room by then. */
const RETRY_AFTER_MS = 1_000;

interface InboxOptions {
  readonly outbox: Outbox;
  readonly handlers: MessageHandlers;
  readonly onDropped: (reason: "malformed" | "repeated" | "handler_failed", error?: unknown) => void;
}

/**
 * Handles one packet whose sender is known. Never throws, whatever the bytes are: an unusable packet is answered with
 * an ErrorMessage. Messages are acknowledged before they are handled. Those in `ACKNOWLEDGED_LATE` are exceptions: a
 * user message is acknowledged once it is stored, the others once they are accepted or refused. A repeated message is
 * only acknowledged. A user message or variation that arrives while the worker shuts down is never acknowledged, so its
 * sender resends it to the next worker.
 */
export function handlePacket(
  participant: ParticipantState,
  bytes: Uint8Array,
  { outbox, handlers, onDropped }: InboxOptions,
): void {
  let originatingId: string | undefined;
  let late: { readonly acknowledge: () => void; readonly refuse: (error: AppError) => void } | undefined;
  try {
    const incoming = decodeEnvelope(bytes);
    const { stanzaId } = incoming;
    const type = "message" in incoming ? incoming.message.type : undefined;
    participant.isClient = true;
    if (stanzaId > 0) {
      const acknowledge = () => outbox.acknowledge(stanzaId, participant.identity);
      // A restarted client counts from 1 again. If LiveKit still lists its previous join, its stanzas would otherwise
      // look repeated.
      if (type === "configuration") participant.forgetStanzas();
      if (!participant.takeStanza(stanzaId)) {
        participant.whenStored(stanzaId, acknowledge);
        return onDropped("repeated");
      }
      const refuse = (error: AppError) => {
        participant.trackStoring(stanzaId, Promise.reject(error));
        outbox.postRefusal(error, participant.identity, { originatingId, retryAfterMs: RETRY_AFTER_MS });
      };
      if (ACKNOWLEDGED_LATE.includes(type)) late = { acknowledge, refuse };
      else acknowledge();
    }
    if ("message" in incoming) {
      originatingId = idOfMessage(incoming.message);
      const { conversationId } = incoming;
      // A client that does not know the conversation's id yet sends an empty one.
      if (conversationId === "" || conversationId === outbox.conversationId) {
        const storing = dispatch(participant, incoming, handlers);
        if (storing) participant.trackStoring(stanzaId, storing);
        if (late) participant.whenStored(stanzaId, late.acknowledge);
      } else if (incoming.message.type === "error_message") onDropped("malformed");
      else throw new AppError("conversation_not_found", "conversationId: not the conversation of this room");
    } else if (incoming.id !== undefined) {
      const text = `Unknown message type: ${incoming.unknownType}`;
      outbox.postError(new AppError("unknown_type", text), participant.identity, incoming.id);
    }
  } catch (error) {
    if (error instanceof MalformedMessageError) {
      const { stanzaId = 0, id, typeName } = error.parts;
      if (typeName === "tool_use_result" && id !== undefined) handlers.onUnreadableResult(participant, id, error);
      // An ErrorMessage is never answered with another one: the two ends would reply to each other forever.
      if (typeName !== "error_message") outbox.postError(error, participant.identity, id);
      if (stanzaId > 0) outbox.acknowledge(stanzaId, participant.identity);
      return onDropped("malformed", error);
    }
    if (late && error instanceof AppError && error.code === "unavailable") late.refuse(error);
    else {
      outbox.postError(error, participant.identity, originatingId);
      late?.acknowledge();
    }
    onDropped(error instanceof AppError ? "malformed" : "handler_failed", error);
  }
}

/** Returns the id by which an ErrorMessage refers to a message. */
function idOfMessage({ body }: Message): string | undefined {
  if ("id" in body) return body.id;
  if ("permissionId" in body) return body.permissionId;
  return "targetId" in body ? body.targetId : undefined;
}

function dispatch(
  participant: ParticipantState,
  { message, meta }: ReceivedMessage,
  handlers: MessageHandlers,
): Promise<void> | undefined {
  if (!isSentBy("client", message))
    throw new AppError("invalid_state", `${message.type}: clients cannot send messages of this type`);
  return message.type === "audio_chunk" ? undefined : handle(participant, { message, meta }, handlers);
}

function handle<Type extends Handled>(
  participant: ParticipantState,
  { message, meta }: { readonly message: Message<Type>; readonly meta: JsonObject },
  handlers: HandlersByType,
): Promise<void> | undefined {
  return handlers[message.type](participant, message.body, meta) ?? undefined;
}
