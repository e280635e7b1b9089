import { setTimeout as sleep } from "node:timers/promises";
import { EarlyInput } from "../../session/room/early-input.ts";
import type { OnRoomInput, RoomInput, RoomOver } from "../../session/room/room-input.ts";

/** LiveKit ends a job and disconnects it from its room in any order. The reason of the latter is waited for so long. */
const TOLD_WITHIN_MS = 300;

/** A room's input on its way to whoever handles it. It is kept until that is decided. */
export class JobInput {
  readonly #early = new EarlyInput();
  readonly #disconnected = Promise.withResolvers<void>();
  #handler: OnRoomInput | undefined;
  #lost: Extract<RoomInput, { type: "disconnected" }> | undefined;

  /** How the connection was lost; `undefined` while it is not. */
  get lost(): { readonly over?: RoomOver | undefined } | undefined {
    return this.#lost;
  }

  /** Resolves when the connection is lost. */
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

  /** Hands on what was kept, and from now on everything. */
  handTo(handler: OnRoomInput): void {
    this.#handler = handler;
    for (const input of this.#early.take()) handler(input);
  }

  /** From now on input is dropped: another agent takes it. */
  drop(): void {
    this.#handler = () => {};
  }

  /** Why the room is over; `undefined` when it is not, or that is not known in time. */
  readonly whyOver = async (): Promise<RoomOver | undefined> => {
    await Promise.race([this.whenLost, sleep(TOLD_WITHIN_MS)]);
    return this.#lost?.over;
  };
}
