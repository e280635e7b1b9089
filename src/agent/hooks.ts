import { z } from "zod";
import type { EndReason } from "../conversation/session-end.ts";
import type { State, StateAccess } from "../conversation/state/session-state.ts";
import type { SpokenTurn } from "../conversation/spoken-turn.ts";
import type { JsonObject } from "../lib/json.ts";
import type { AgentParticipant } from "./agent-session.ts";

/** Identifies the session that a hook is called for. */
interface HookedSession {
  /** The id of the session. It is the same for later rooms of this name, unless `continueConversation` decides otherwise. */
  readonly sessionId: string;
  readonly conversationId: string;
  readonly room: string;
  /** LiveKit's id of the room. A session starts once and ends once per such id. */
  readonly roomSid: string;
  /** The agent that serves the session. */
  readonly agent: string;
}

export interface SessionStarted extends HookedSession {
  /** Unix ms. */
  readonly startedAt: number;
  readonly participants: readonly AgentParticipant[];
  /** The dispatch's metadata; `{}` if there is none. */
  readonly metadata: JsonObject;
  /** The room's metadata; `{}` if it is not a JSON object. */
  readonly roomMetadata: JsonObject;
}

export interface TokenUsage {
  /** Excludes tokens read from or written to the prompt cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface TurnEnded extends HookedSession {
  readonly turn: SpokenTurn;
  /** The total for all model calls of the turn. */
  readonly usage: TokenUsage;
}

/** The record of a session that has ended, which is also a webhook's `data`. */
export interface SessionEnded extends HookedSession {
  /** Unix ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly reason: EndReason;
  /** The identities of participants who had a turn. */
  readonly participants: readonly string[];
  /** The newest turns: at most 1,000 turns and 1 MB of JSON. */
  readonly turns: readonly SpokenTurn[];
  /** The number of older turns that are not in `turns`. */
  readonly turnsLeftOut: number;
  /** The session's state; `{}` if it was never changed. */
  readonly state: State;
  /** The totals for all turns, by model. */
  readonly usage: readonly (TokenUsage & { readonly model: string })[];
}

export interface HookContext {
  /** Aborted at the deadline. The worker then stops waiting for the hook. */
  readonly signal: AbortSignal;
}

/** The context of a hook that is called while the session continues. */
export interface LiveHookContext extends HookContext {
  /**
   * The session's state. Changes take effect at once. If the turn that `onTurnEnd` is called for is replaced (regenerate,
   * edit), the changes are undone.
   */
  readonly session: StateAccess;
}

type Hook<Data, Context> = (data: Data, context: Context) => unknown;

const hook = <Data, Context>() =>
  z.custom<Hook<Data, Context>>((value) => typeof value === "function", "expected a function").exactOptional();

/**
 * Functions that the worker calls when something happens in a session. They receive plain data, and no turn waits for
 * them.
 */
export const hookFields = {
  /** Called once the agent and the first participant are in the room. */
  onSessionStart: hook<SessionStarted, LiveHookContext>(),
  /** Called after a turn and the speech of its answer have ended, for any reason, and both are stored. */
  onTurnEnd: hook<TurnEnded, LiveHookContext>(),
  /** Called when the room has ended. */
  onSessionEnd: hook<SessionEnded, HookContext>(),
};

export interface Hooks {
  readonly onSessionStart?: Hook<SessionStarted, LiveHookContext>;
  readonly onTurnEnd?: Hook<TurnEnded, LiveHookContext>;
  readonly onSessionEnd?: Hook<SessionEnded, HookContext>;
}

/** Returns the agent's hooks. A hook that the agent does not define is taken from parley.config.ts. */
export function hooksOf(config: Hooks, agent: Hooks = {}): Hooks {
  return { ...namedIn(config), ...namedIn(agent) };
}

function namedIn({ onSessionStart, onTurnEnd, onSessionEnd }: Hooks): Hooks {
  return {
    ...(onSessionStart && { onSessionStart }),
    ...(onTurnEnd && { onTurnEnd }),
    ...(onSessionEnd && { onSessionEnd }),
  };
}
