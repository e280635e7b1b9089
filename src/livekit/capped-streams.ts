import { type Room } from "@livekit/rtc-node";

/**
 * Caps the streams that come into a room, which is not connected yet: without it one participant can make this process
 * hold 5 GB. `JobContext.connect` takes no such option, and hands its own on to `room.connect`, which does.
 * Checked with @livekit/agents 1.9.0 and @livekit/rtc-node 0.13.35.
 */
export function capStreams(room: Pick<Room, "connect">, maxBytes: number): void {
  const connect = room.connect.bind(room);
  const dataStream = { maxPayloadByteLength: maxBytes };
  room.connect = (url, token, options) =>
    connect(url, token, { autoSubscribe: false, dynacast: false, ...options, dataStream });
}

/** Whether reading a stream failed because of that cap: the error's text alone says it. Checked with @livekit/rtc-node 0.13.35. */
export function isOverCap(error: unknown): boolean {
  return error instanceof Error && error.message.includes("exceeds maximum size");
}
