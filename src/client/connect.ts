import { type LiveKitRoom, toTransport } from "./room/room-transport.ts";
import { Parley, type ParleyOptions } from "./parley.ts";
import type { Transport } from "./room/transport.ts";

export interface ConnectOptions extends ParleyOptions {
  /** How long to wait for a worker to know us, in ms; 0 does not wait. @defaultValue 15000 */
  readonly waitForAgentMs?: number;
}

const DEFAULT_WAIT_MS = 15_000;

/**
 * Makes a client of the Parley worker in a room; the caller closes it. Resolves when a worker knows us, or at once when
 * the room is not connected yet or `waitForAgentMs` is 0.
 *
 * @param room a `Room` of livekit-client or of @livekit/rtc-node, or a transport of your own
 * @throws {AppError} `unavailable` when no worker answered in time
 */
export async function connect(
  room: LiveKitRoom | Transport,
  { waitForAgentMs = DEFAULT_WAIT_MS, ...options }: ConnectOptions = {},
): Promise<Parley> {
  const transport = toTransport(room);
  const parley = new Parley(transport, options);
  if (waitForAgentMs === 0 || !transport.isConnected) return parley;
  try {
    await parley.whenConnected(waitForAgentMs);
  } catch (error) {
    await parley.close();
    throw error;
  }
  return parley;
}
