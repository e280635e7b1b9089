import type { Hooks } from "../../agent/hooks.ts";
import type { Sql } from "../../store/database/pool.ts";
import { loadEndedRoom } from "../../store/sessions/ended-rooms.ts";
import type { SessionRoom } from "../../store/sessions/session-rooms.ts";
import { callHook, type HookWatch } from "./call-hook.ts";
import { withTurns } from "./load-session-ended.ts";

/** Returns an agent's hooks by the agent's name. */
export type HooksOf = (agent: string) => Hooks;

export interface EndHookOptions extends HookWatch {
  readonly sql: Sql;
  readonly hooksOf: HooksOf;
}

/** Calls `onSessionEnd` of the agent that served the room, and waits for it up to its deadline. Never rejects. */
export async function callSessionEnd(room: SessionRoom, { sql, hooksOf, ...watch }: EndHookOptions): Promise<void> {
  try {
    const ended = await loadEndedRoom(sql, room);
    const hook = ended && hooksOf(ended.agent).onSessionEnd;
    if (!hook) return;
    await callHook(
      {
        name: "onSessionEnd",
        room: ended.room,
        call: async (context) => hook(await withTurns(sql, room, ended), context),
      },
      watch,
    );
  } catch (error) {
    watch.logger.error({ error, roomSid: room.roomSid }, "calling hook onSessionEnd failed");
  }
}
