export { AppError, type ErrorCode } from "../errors/app-error.ts";
export type { ExtraAnswer } from "../conversation/call.ts";
export type { SpokenTool, SpokenTurn, TranscriptPart } from "../conversation/spoken-turn.ts";
export type { TurnPart, TurnTimings } from "../conversation/turn-timings.ts";
export { type Message, type MessageBody } from "../protocol/messages/messages.ts";
export type { Attachment } from "./attachment.ts";
export { type AskOptions, type WholeAnswer } from "./ask.ts";
export {
  type AnswerEndEvent,
  type ErrorEvent,
  type PermissionClosedEvent,
  type ParleyEvents,
  type ToolCallEvent,
  type ToolResultEvent,
  type ToolRunner,
} from "./client-events.ts";
export { type ResultBlock, toolResult, type ToolResult, type ToolResultParts } from "../protocol/tool-result.ts";
export { type ClientTool, type ToolContext, ToolError } from "./tools/client-tool.ts";
export { connect, type ConnectOptions } from "./connect.ts";
export type { PermissionOptions } from "./permission-answer.ts";
export { type Parley, type SendTextOptions, type SentText } from "./parley.ts";
export { type LiveKitRoom, roomTransport } from "./room/room-transport.ts";
export { type RoomPeer, type Transport, type TransportListener } from "./room/transport.ts";
export type { ParleyOptions } from "./wire/own-configuration.ts";
