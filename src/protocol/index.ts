// `parley/protocol`: the wire format, for third-party clients and workers. It also runs in browsers.

export { AppError, ERROR_CODES, type ErrorCode } from "../errors/app-error.ts";
export {
  encodeEnvelope,
  type Incoming,
  type OutgoingEnvelope,
  type ReceivedMessage,
  type UnknownMessage,
} from "./codec/codec.ts";
export { decodeEnvelope } from "./codec/decode-envelope.ts";
export { conversationIdOfRoom } from "./conversation-id.ts";
export { LIMITS, TOOL_NAME, TOOL_TIMES } from "./limits.ts";
export {
  type Feature,
  type Message,
  type MessageBody,
  MESSAGES,
  type MessageType,
  messageTypeOf,
  type SentBy,
} from "./messages/messages.ts";
export { MalformedMessageError, type ReadableParts } from "./messages/parse-message.ts";
