import { setTimeout as sleep } from "node:timers/promises";
import { EarlyInput } from "../../session/room/early-input.ts";
import type { OnRoomInput, RoomInput, RoomCloseReason } from "../../session/room/room-input.ts";

/**
 * How long to wait for the reason of a disconnect. When LiveKit ends a job, the job may not have been disconnected from
 * its room yet.
 */
const REASON_WITHIN_MS = 300;

/** Passes a room's input to its handler. Buffers it until the handler is known. */
export class JobInput {
  readonly #early = new EarlyInput();
  readonly #disconnected = Promise.withResolvers<void>();
  #handler: OnRoomInput | undefined;
  #lost: Extract<RoomInput, { type: "disconnected" }> | undefined;

  /** How the connection was lost; `undefined` while connected. */
  get lost(): { readonly closeReason?: RoomCloseReason | undefined } | undefined {
    return this.#lost;
  }

  get whenLost(): Promise<void> {
    return this.#disconnected.promise;
  }

  readonly take: OnRoomInput = (input) => {
    if (input.type === "disconnected") {
      this.#lost ??= input;
      this.#disconnected.resolve();
    }
    if (this.#handler) this.#handler(input);
    else this.#early.add(input);
  };

  /** Passes the buffered input and all later input to `handler`. */
  handTo(handler: OnRoomInput): void {
    this.#handler = handler;
    for (const input of this.#early.take()) handler(input);
  }

  /** Drops all further input, because another agent handles it. */
  drop(): void {
    this.#handler = () => {};
  }

  /** Resolves to the reason why the room ended, or to `undefined` if it has not ended or no reason arrives in time. */
  readonly untilCloseReason = async (): Promise<RoomCloseReason | undefined> => {
    await Promise.race([this.whenLost, sleep(REASON_WITHIN_MS)]);
    return this.#lost?.closeReason;
  };
}
