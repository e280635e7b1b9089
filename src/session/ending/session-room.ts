import type { EndReason } from "../../conversation/session-end.ts";
import { AppError } from "../../errors/app-error.ts";
import { retryWhileUnavailable } from "../../store/database/retry-while-unavailable.ts";
import { type Begun, beginRoom, endRoom } from "../../store/sessions/session-rooms.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";

interface SessionRoomOptions {
  readonly writer: SessionWriter;
  /** LiveKit's id of the room. */
  readonly roomSid: string;
  /** The position of the session's last turn when the session was opened. */
  readonly lastPosition: number;
  /** Whether a webhook reports the end to the operator's server. */
  readonly hasEndWebhook: boolean;
}

/** Stores a session's start and end in one LiveKit room, each only once, however many workers serve the room. */
export class SessionRoom {
  readonly #options: SessionRoomOptions;
  readonly #closing = new AbortController();
  #begun: Promise<Begun> | undefined;

  constructor(options: SessionRoomOptions) {
    this.#options = options;
  }

  /**
   * Stores the start. Call this when the agent and a participant are in the room. Retries while the database is
   * unreachable. Calling it again returns the same promise.
   *
   * @throws {AppError} `lost_lease`, or `unavailable` if the session was closed first
   */
  begin(agent: string): Promise<Begun> {
    return (this.#begun ??= this.#begin(agent));
  }

  /**
   * Stores the end.
   *
   * @returns false if the session never started in this room, or its end is already stored
   * @throws {AppError}
   */
  async end(reason: EndReason): Promise<boolean> {
    const { writer, roomSid, hasEndWebhook } = this.#options;
    await this.close();
    return endRoom(writer, { roomSid, reason, hasEndWebhook });
  }

  /** Stops retrying to store the start. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError("unavailable", "The session closed before its start was stored"));
    await this.#begun?.catch(() => {});
  }

  async #begin(agent: string): Promise<Begun> {
    const { writer, roomSid, lastPosition: afterPosition, hasEndWebhook } = this.#options;
    let begun: Begun | undefined;
    const attempt = async () => (begun = await beginRoom(writer, { roomSid, agent, afterPosition, hasEndWebhook }));
    try {
      return await retryWhileUnavailable(attempt, { signal: this.#closing.signal });
    } catch (error) {
      // The attempt in progress when the session closed may have succeeded.
      if (begun) return begun;
      throw error;
    }
  }
}
