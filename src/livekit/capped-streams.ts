import type { Room } from "@livekit/rtc-node";

/**
 * Limits the size of each data stream that the room receives. Call it before the room is connected. Without a limit,
 * one participant can make this process buffer 5 GB. Only `room.connect` has this option; `JobContext.connect`, which
 * calls `room.connect`, does not offer it. Checked with @livekit/agents 1.9.0 and @livekit/rtc-node 0.13.35.
 */
export function capStreams(room: Pick<Room, "connect">, maxBytes: number): void {
  const connect = room.connect.bind(room);
  const dataStream = { maxPayloadByteLength: maxBytes };
  room.connect = (url, token, options) =>
    connect(url, token, { autoSubscribe: false, dynacast: false, ...options, dataStream });
}

/**
 * Whether a stream exceeded the limit. Only the message identifies this error. Checked with @livekit/rtc-node 0.13.35.
 */
export function isOverCap(error: unknown): boolean {
  return error instanceof Error && error.message.includes("exceeds maximum size");
}
