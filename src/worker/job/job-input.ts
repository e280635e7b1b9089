import { setTimeout as sleep } from "node:timers/promises";
import { EarlyInput } from "../../session/room/early-input.ts";
import type { OnRoomInput, RoomInput, RoomOver } from "../../session/room/room-input.ts";

/**
 * LiveKit may end a job before or after it disconnects the job from its room. How long to wait for the disconnect's
 * reason.
 */
const TOLD_WITHIN_MS = 300;

/** Passes a room's input to its handler. Buffers it until the handler is known. */
export class JobInput {
  readonly #early = new EarlyInput();
  readonly #disconnected = Promise.withResolvers<void>();
  #handler: OnRoomInput | undefined;
  #lost: Extract<RoomInput, { type: "disconnected" }> | undefined;

  /** How the connection was lost; `undefined` while connected. */
  get lost(): { readonly over?: RoomOver | undefined } | undefined {
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

  /** Passes the buffered input to `handler`, and from now on all input. */
  handTo(handler: OnRoomInput): void {
    this.#handler = handler;
    for (const input of this.#early.take()) handler(input);
  }

  /** Drops all further input, because another agent handles it. */
  drop(): void {
    this.#handler = () => {};
  }

  /** Resolves to why the room is over, or to `undefined` if it is not over or the reason does not arrive in time. */
  readonly whyOver = async (): Promise<RoomOver | undefined> => {
    await Promise.race([this.whenLost, sleep(TOLD_WITHIN_MS)]);
    return this.#lost?.over;
  };
}
