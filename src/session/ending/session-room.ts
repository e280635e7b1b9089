import pRetry from "p-retry";
import type { EndReason } from "../../conversation/session-end.ts";
import { AppError } from "../../errors/app-error.ts";
import { type Begun, beginRoom, endRoom } from "../../store/sessions/session-rooms.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";

interface SessionRoomOptions {
  readonly writer: SessionWriter;
  /** LiveKit's id of the room. */
  readonly roomSid: string;
  /** Of the session's last turn when it was opened. */
  readonly lastPosition: number;
  /** Whether the operator's server is told of the end. */
  readonly isTold: boolean;
}

/** The start and the end of a session in one LiveKit room: each is stored once, whichever workers serve it. */
export class SessionRoom {
  readonly #options: SessionRoomOptions;
  readonly #closing = new AbortController();
  #begun: Promise<Begun> | undefined;

  constructor(options: SessionRoomOptions) {
    this.#options = options;
  }

  /**
   * Somebody is there, and an agent: stores the start, as soon as the database can. May be called again.
   *
   * @throws {AppError} `lost_lease`, or `unavailable` when the session was closed before
   */
  begin(agent: string): Promise<Begun> {
    return (this.#begun ??= this.#begin(agent));
  }

  /** The room is over: stores the end. `false`: it never started, or another worker has stored it. @throws {AppError} */
  async end(reason: EndReason): Promise<boolean> {
    const { writer, roomSid, isTold } = this.#options;
    await this.close();
    return endRoom(writer, { roomSid, reason, isTold });
  }

  /** What is being stored is not tried again. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError("unavailable", "The session was closed first"));
    await this.#begun?.catch(() => {});
  }

  async #begin(agent: string): Promise<Begun> {
    const { writer, roomSid, lastPosition: afterPosition, isTold } = this.#options;
    let begun: Begun | undefined;
    const attempt = async () => (begun = await beginRoom(writer, { roomSid, agent, afterPosition, isTold }));
    try {
      return await pRetry(attempt, {
        retries: Number.POSITIVE_INFINITY,
        minTimeout: 250,
        maxTimeout: 5_000,
        signal: this.#closing.signal,
        shouldRetry: ({ error }) => error instanceof AppError && error.code === "unavailable",
      });
    } catch (error) {
      // The attempt that was under way at the close may have succeeded.
      if (begun) return begun;
      throw error;
    }
  }
}
