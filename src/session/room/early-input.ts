import { LIMITS } from "../../protocol/limits.ts";
import type { RoomInput } from "./room-input.ts";

/** Bytes added to the size of each input, so that many empty inputs also reach the limit. */
const BYTES_AN_INPUT = 256;

/**
 * Buffers a room's input until its session is open, which can take until a dead worker's lease expires. Rate limits do
 * not apply yet, so the buffered bytes are limited instead. Clients resend whatever is not acknowledged.
 */
export class EarlyInput {
  #inputs: RoomInput[] = [];
  #bytes = 0;

  /** Adds an input unless the buffer is full. Joins, leaves and disconnects are always added. */
  add(input: RoomInput): void {
    const bytes = BYTES_AN_INPUT + sizeOf(input);
    const isSent = input.type !== "joined" && input.type !== "left" && input.type !== "disconnected";
    if (isSent && this.#bytes + bytes > LIMITS.openStreamBytes) return;
    this.#bytes += bytes;
    this.#inputs.push(input);
  }

  /** Removes and returns everything buffered, in order. */
  take(): readonly RoomInput[] {
    return this.#inputs.splice(0);
  }
}

function sizeOf(input: RoomInput): number {
  if ("bytes" in input) return input.bytes.length;
  if ("text" in input) return input.text.length;
  return "transcript" in input ? input.transcript.text.length : 0;
}
