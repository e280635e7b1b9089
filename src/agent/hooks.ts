import { z } from "zod";
import type { EndReason } from "../conversation/session-end.ts";
import type { SpokenTurn } from "../conversation/spoken-turn.ts";
import type { JsonObject } from "../lib/json.ts";
import type { AgentParticipant } from "./agent-session.ts";

/** The session that a hook is told of. */
interface HookedSession {
  /** The same for all rooms of this name. */
  readonly sessionId: string;
  readonly conversationId: string;
  readonly room: string;
  /** LiveKit's id of the room. With each room of this name the session starts once and ends once. */
  readonly roomSid: string;
  /** The agent that serves it. */
  readonly agent: string;
}

export interface SessionStarted extends HookedSession {
  /** Unix ms. */
  readonly startedAt: number;
  /** Who is in the room. */
  readonly participants: readonly AgentParticipant[];
  /** The metadata of the dispatch; `{}` without any. */
  readonly metadata: JsonObject;
  /** The room's metadata; `{}` when it is no JSON object. */
  readonly roomMetadata: JsonObject;
}

export interface TokenUsage {
  /** Without tokens that were read from the prompt cache or written to it. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface TurnEnded extends HookedSession {
  readonly turn: SpokenTurn;
  /** The sum of all its model calls. */
  readonly usage: TokenUsage;
}

/** The same as a webhook's `data`. */
export interface SessionEnded extends HookedSession {
  /** Unix ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly reason: EndReason;
  /** The identities of those who had a turn. */
  readonly participants: readonly string[];
  /** The newest ones, up to 1,000 turns and 1 MB of JSON. */
  readonly turns: readonly SpokenTurn[];
  /** The number of older turns that are not in `turns`. */
  readonly turnsLeftOut: number;
  /** The sums of all turns, by model. */
  readonly usage: readonly (TokenUsage & { readonly model: string })[];
}

export interface HookContext {
  /** Aborted at the deadline, after which the hook is not waited for. */
  readonly signal: AbortSignal;
}

type Hook<Data> = (data: Data, context: HookContext) => unknown;

const hook = <Data>() =>
  z.custom<Hook<Data>>((value) => typeof value === "function", "expected a function").exactOptional();

/** Functions of the author that are told what happens. They get plain data, and nothing waits for them. */
export const hookFields = {
  /** The agent and the first participant are in the room. */
  onSessionStart: hook<SessionStarted>(),
  /** A turn has ended, however, and so has the speech of its answer. Both are stored. */
  onTurnEnd: hook<TurnEnded>(),
  /** The room is over. */
  onSessionEnd: hook<SessionEnded>(),
};

export interface Hooks {
  readonly onSessionStart?: Hook<SessionStarted>;
  readonly onTurnEnd?: Hook<TurnEnded>;
  readonly onSessionEnd?: Hook<SessionEnded>;
}

/** The agent's own hooks, and those of parley.config.ts in the place of hooks that it does not have. */
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
