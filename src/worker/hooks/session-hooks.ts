import type { HookContext, TokenUsage } from "../../agent/hooks.ts";
import { spokenTurns } from "../../http/transcript/write-transcript.ts";
import type { SessionAgents } from "../../session/agent/session-agents.ts";
import { endsTurn, type SessionWatcher } from "../../session/events/session-event.ts";
import type { OpenedSession } from "../../session/open-session.ts";
import type { SessionRoom } from "../../store/sessions/session-rooms.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import type { JsonObject } from "../../lib/json.ts";
import { loadUsage } from "../../store/turns/find-turns.ts";
import { callHook } from "./call-hook.ts";
import { callSessionEnd, type EndHookOptions } from "./call-session-end.ts";

interface SessionHooksOptions extends EndHookOptions {
  readonly room: string;
  readonly conversationId: string;
  readonly roomSid: string;
  readonly agents: Pick<SessionAgents, "current" | "session">;
  readonly opening: Promise<Pick<OpenedSession, "sessionId" | "begin" | "stateOf">>;
}

/** Calls the author's hooks for the events of a session. The session never waits for a hook. */
export class SessionHooks {
  readonly #options: SessionHooksOptions;
  readonly #running = new Set<Promise<void>>();
  #begun: Promise<void> | undefined;
  /** Resolves when the hooks of all turns so far have been called. */
  #turnHooksCalled: Promise<void> = Promise.resolve();

  constructor(options: SessionHooksOptions) {
    this.#options = options;
  }

  /**
   * Call this when a participant has joined. The room's agent is chosen by then, so the first call starts the session.
   */
  handleJoined(): void {
    this.#begun ??= this.#begin();
  }

  readonly watch: SessionWatcher = (event) => {
    if (event.type === "turn" && endsTurn(event)) this.#keep(this.#endTurn(event.turn));
  };

  /** Call this when the session has ended on this worker. `onSessionEnd` is called after the hooks of all turns. */
  handleEnded(): void {
    const end = async () => {
      const { sessionId } = await this.#options.opening;
      await this.#turnHooksCalled;
      await this.#end([this.#roomOf(sessionId)]);
    };
    this.#keep(end());
  }

  /** Resolves when no hook is running or about to be called. */
  async settled(): Promise<void> {
    await this.#begun;
    await Promise.all(this.#running);
  }

  async #begin(): Promise<void> {
    const { opening, agents, hooksOf, room, logger } = this.#options;
    const { participants, metadata, roomMetadata } = agents.session;
    const { name: agent } = agents.current;
    try {
      const { sessionId, begin, stateOf } = await opening;
      const { isNew, ended } = await begin(agent);
      this.#keep(this.#end(ended));
      const hook = hooksOf(agent).onSessionStart;
      if (!hook || !isNew) return;
      const started = {
        ...this.#identify(sessionId, agent),
        startedAt: Date.now(),
        participants,
        metadata,
        roomMetadata,
      };
      const call = ({ signal }: HookContext) => hook(started, { signal, session: stateOf(null, signal) });
      this.#keep(callHook({ name: "onSessionStart", room, call }, this.#options));
    } catch (error) {
      logger.error({ error }, "storing session start failed");
    }
  }

  async #endTurn({ id: turnId, position }: TurnRecord): Promise<void> {
    const { opening, agents, hooksOf, room, sql } = this.#options;
    const { name: agent } = agents.current;
    const hook = hooksOf(agent).onTurnEnd;
    if (!hook) return;
    const load = async () => {
      const { sessionId, stateOf } = await opening;
      const [turn] = await Array.fromAsync(spokenTurns(sql, { sessionId, after: position - 1, last: position }));
      const usage = toTokenUsage(await loadUsage(sql, { sessionId, position }));
      // `onSessionStart` is called before the hooks of turns.
      await this.#begun;
      return turn && { data: { ...this.#identify(sessionId, agent), turn, usage }, stateOf };
    };
    const loaded = load();
    const before = this.#turnHooksCalled;
    this.#turnHooksCalled = loaded.then(
      () => before,
      () => before,
    );
    const call = async ({ signal }: HookContext) => {
      const turnEnd = await loaded;
      if (turnEnd) await hook(turnEnd.data, { signal, session: turnEnd.stateOf(turnId, signal) });
    };
    await callHook({ name: "onTurnEnd", room, call }, this.#options);
  }

  async #end(rooms: readonly SessionRoom[]): Promise<void> {
    await Promise.all(rooms.map((room) => callSessionEnd(room, this.#options)));
  }

  #identify(sessionId: string, agent: string) {
    const { conversationId, room } = this.#options;
    return { ...this.#roomOf(sessionId), conversationId, room, agent };
  }

  #roomOf(sessionId: string): SessionRoom {
    return { sessionId, roomSid: this.#options.roomSid };
  }

  #keep(task: Promise<void>): void {
    const kept = task.catch(() => {}).finally(() => this.#running.delete(kept));
    this.#running.add(kept);
  }
}

/** Converts a turn's stored usage. A turn that could not be stored has no usage, so all its numbers are 0. */
function toTokenUsage(stored: JsonObject = {}): TokenUsage {
  const of = (name: keyof TokenUsage) => Number(stored[name] ?? 0);
  return {
    inputTokens: of("inputTokens"),
    outputTokens: of("outputTokens"),
    cacheReadTokens: of("cacheReadTokens"),
    cacheWriteTokens: of("cacheWriteTokens"),
  };
}
