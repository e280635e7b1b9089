import type { Logger } from "pino";
import type { Call } from "../../conversation/call.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { TurnTimings } from "../../conversation/turn-timings.ts";
import type { TurnEnd, TurnEvent } from "../../turn/turn-event.ts";

/**
 * The speech of a turn's answer has ended, and its end is stored. Sent after `turn_complete`, only for spoken answers.
 */
export interface TurnSpoken {
  readonly type: "turn_spoken";
  /** How the turn and its speech ended: a completed answer may be cut off while it is spoken. */
  readonly state: TurnEnd["state"];
  /** The part of the answer that was heard, if its speech was cut off. Absent if all of it was heard. */
  readonly heard: string | undefined;
  /** The turn's times, including its speech. Absent if an earlier worker ended the turn. */
  readonly timings?: TurnTimings;
}

/** An event of a session. All watchers receive it, in order. */
export type SessionEvent =
  | { readonly type: "turn"; readonly turn: TurnRecord; readonly event: TurnEvent | TurnSpoken }
  /** A call was opened, has changed or has ended. */
  | { readonly type: "tool_state"; readonly call: Call }
  /** This state of the call has been stored. */
  | { readonly type: "tool_state_stored"; readonly call: Call }
  /** A permission request was stored and waits for an answer. */
  | { readonly type: "permission_asked"; readonly permission: PermissionRecord }
  /** An open permission request was given more time. */
  | { readonly type: "permission_extended"; readonly permission: PermissionRecord }
  /** A permission request was answered, has expired or was withdrawn. */
  | { readonly type: "permission_replied"; readonly permission: PermissionRecord };

/** Receives a session's events. Must not throw or block the session. */
export type SessionWatcher = (event: SessionEvent) => void;

/** Whether this event ends both the turn and the speech of its answer. */
export function endsTurn({ event }: Extract<SessionEvent, { readonly type: "turn" }>): boolean {
  return event.type === "turn_spoken" || (event.type === "turn_complete" && event.isSpoken !== true);
}

/** Notifies all watchers of an event. If one throws, the error is logged. */
export function notifyWatchers(
  watchers: readonly SessionWatcher[],
  event: SessionEvent,
  logger: Pick<Logger, "error">,
): void {
  for (const watch of watchers) {
    try {
      watch(event);
    } catch (error) {
      logger.error({ error }, "session event handler failed");
    }
  }
}
