import { setTimeout as sleep } from "node:timers/promises";
import type { Room } from "@livekit/rtc-node";
import type { AppError } from "../../errors/app-error.ts";
import { HANDOVER_ATTRIBUTE } from "../../protocol/attributes.ts";
import type { AgentState } from "../../session/events/agent-state.ts";
import type { OpenedSession } from "../../session/open-session.ts";
import type { RoomLink } from "../../session/room/room-link.ts";
import type { RoomVoice } from "../../voice/room-voice.ts";
import type { SessionHooks } from "../hooks/session-hooks.ts";
import { isReconnecting, setOwnAttributes } from "./connection.ts";
import type { JobInput } from "./job-input.ts";
import type { ServedRoom } from "./room-api.ts";
import type { Succession } from "./succession.ts";

/** How often a session that is being handed over is checked for a pause. */
const CHECK_EVERY_MS = 50;
/** How long to wait for a pause. After that, another agent is requested even without a pause. */
const REQUEST_WITHIN_MS = 3_000;
/**
 * The number of checks between two agent requests (10 s). An agent takes a while to join, and a slot may become free
 * only later.
 */
const CHECKS_PER_REQUEST = 200;

/** A job's room, with the address and keys of LiveKit's server API. */
export interface JobRoom extends ServedRoom {
  /** Unique to this job: another job for the same room has a different id. */
  readonly jobId: string;
  /** The room, which is not connected yet. */
  readonly room: Room;
  /** LiveKit's id of the room. @defaultValue unknown: hooks and webhooks are not called for the session */
  readonly sid?: string | undefined;
  /** The dispatch's metadata. @defaultValue none */
  readonly metadata?: string;
  /** The agent name to which the room was dispatched. @defaultValue none */
  readonly agentName?: string;
  readonly connect: () => Promise<void>;
  /** Ends the job, which then leaves the room. */
  readonly leave: (reason: string) => void;
  /** Called when the first server tool starts, and when the last one has ended. Must not throw. */
  readonly onBusy?: (isBusy: boolean) => void;
}

export interface HandOver {
  readonly withinMs: number;
  /**
   * Called at a pause, or after 3 s at the latest, to request another agent. The handover then waits for that agent. If
   * absent, the session is released at its next pause.
   */
  readonly onPause?: () => void;
}

/** The state of the job's session, once it is known. */
export type JobSessionState =
  | { readonly name: "serving"; readonly opened: OpenedSession }
  /** No session may be opened for this room. Each participant receives an error with the reason. */
  | { readonly name: "refused"; readonly why: AppError }
  /** Another agent serves the room. */
  | { readonly name: "elsewhere" };

interface JobSessionParts {
  readonly job: JobRoom;
  readonly state: JobSessionState;
  readonly input: JobInput;
  readonly link: RoomLink;
  readonly agentState: AgentState;
  readonly voice: RoomVoice | undefined;
  readonly hooks: SessionHooks | undefined;
  readonly succession: Succession;
}

export class JobSession {
  readonly #parts: JobSessionParts;
  readonly #opened: OpenedSession | undefined;
  #isHandedOver = false;
  #releasing: Promise<void> | undefined;

  constructor(parts: JobSessionParts) {
    this.#parts = parts;
    const { state, input } = parts;
    this.#opened = state.name === "serving" ? state.opened : undefined;
    void input.whenLost.then(() => (this.#continuesElsewhere ? this.#release() : undefined)).catch(() => {});
  }

  /**
   * Hands the session over to an agent on another worker. At a pause, or after 3 s at the latest, `onPause` requests
   * the new agent, repeatedly until it is in the room. The current agent then starts no more turns, and releases the
   * session when the running turn has ended. After `withinMs`, or on `close`, it releases the session without waiting,
   * and the next worker resumes the running turn. Never rejects.
   */
  async handOver({ withinMs, onPause }: HandOver): Promise<void> {
    const { link, input, job } = this.#parts;
    this.#isHandedOver = true;
    setOwnAttributes(job.room, { [HANDOVER_ATTRIBUTE]: "true" });
    const late = AbortSignal.timeout(withinMs);
    // The wait is limited, because there is no pause while participants keep asking.
    await this.#untilPause(AbortSignal.any([late, AbortSignal.timeout(REQUEST_WITHIN_MS)]));
    const hasCome = () => link.otherAgents.length > 0;
    for (let checks = 0; onPause && !hasCome() && !late.aborted; checks++) {
      if (checks % CHECKS_PER_REQUEST === 0) onPause();
      await sleep(CHECK_EVERY_MS);
    }
    this.#opened?.session.hold();
    await this.#untilPause(late);
    // From now on, input is for the other agent. If that agent has not joined yet, clients resend whatever was not
    // acknowledged.
    input.drop();
    await this.#release();
  }

  /** Ends the session. The running turn may take `graceMs` to finish. May be called more than once. */
  async close(graceMs: number): Promise<void> {
    const { input, link, agentState, voice, hooks, succession } = this.#parts;
    succession.close();
    if (this.#continuesElsewhere) await this.#release();
    else if (await this.#opened?.close(input.lost ? 0 : graceMs, hooks && input.untilCloseReason)) hooks?.handleEnded();
    await voice?.close();
    agentState.close();
    link.close();
    await hooks?.settled();
  }

  /**
   * Whether another agent will continue the session. That is the case if this agent is handing the session over, is
   * reconnecting, or has lost its connection although the room has not ended. LiveKit may consider an agent gone and
   * end its job while the agent is still reconnecting.
   */
  get #continuesElsewhere(): boolean {
    const { input, job } = this.#parts;
    return input.lost ? input.lost.closeReason === undefined : this.#isHandedOver || isReconnecting(job.room);
  }

  async #release(): Promise<void> {
    this.#parts.succession.close();
    if (this.#opened) await (this.#releasing ??= releaseSession(this.#opened));
  }

  async #untilPause(late: AbortSignal): Promise<void> {
    if (!this.#opened) return;
    const { session } = this.#opened;
    while (!late.aborted) {
      await this.#parts.voice?.untilQuiet(late).catch(() => {});
      if (session.isAtPause) return;
      await sleep(CHECK_EVERY_MS);
    }
  }
}

/** Releases the session to another worker. A running turn is left for that worker to resume. */
export async function releaseSession({ session, close, abandon }: OpenedSession): Promise<void> {
  if (session.isAtPause) await close(0);
  else await abandon().catch(() => close(0));
}
