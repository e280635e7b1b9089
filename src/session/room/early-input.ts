import { LIMITS } from "../../protocol/limits.ts";
import type { RoomInput } from "./room-input.ts";

/** Added to the bytes of each input, so that many empty ones reach the limit, too. */
const BYTES_AN_INPUT = 256;

/**
 * Keeps a room's input until its session is open, which may take until a dead worker's lease has run out. Budgets do
 * not count yet, so the bytes that participants send are limited. A client sends again what gets no Ack.
 */
export class EarlyInput {
  #inputs: RoomInput[] = [];
  #bytes = 0;

  /** Joining and leaving is always kept. */
  add(input: RoomInput): void {
    const bytes = BYTES_AN_INPUT + sizeOf(input);
    const isSent = input.type !== "joined" && input.type !== "left" && input.type !== "disconnected";
    if (isSent && this.#bytes + bytes > LIMITS.openStreamBytes) return;
    this.#bytes += bytes;
    this.#inputs.push(input);
  }

  /** All that was kept, in order. */
  take(): readonly RoomInput[] {
    return this.#inputs.splice(0);
  }
}

function sizeOf(input: RoomInput): number {
  if ("bytes" in input) return input.bytes.length;
  if ("text" in input) return input.text.length;
  return "transcript" in input ? input.transcript.text.length : 0;
}
