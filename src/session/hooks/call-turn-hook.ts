import type { z } from "zod";
import type { HookSession } from "../../agent/turn-hooks.ts";
import { abortable } from "../../lib/abortable.ts";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import type { SessionAgents } from "../agent/session-agents.ts";
import type { SessionCore } from "../session-core.ts";

export interface HookOptions extends Pick<
  SessionCore,
  "sessionId" | "room" | "roomSid" | "participants" | "policy" | "state" | "telemetry" | "logger"
> {
  readonly agents: Pick<SessionAgents, "current"> | undefined;
}

interface HookSettings<Run> {
  readonly run: Run;
  readonly withinMs?: number;
  readonly onLate?: "go_on" | "refuse";
}

interface HookCall<Run, Decision> {
  readonly name: "onUserTurn" | "onAnswer";
  /** The hook as its author wrote it. */
  readonly hook: Run | HookSettings<Run>;
  /** The deadline of a hook that sets none. */
  readonly withinMs: number;
  readonly schema: z.ZodType<Decision>;
  readonly call: (run: Run, session: HookSession) => unknown;
}

/** What the hook decided or, if it was late, failed or was cut off, what its author wants to happen then. */
type Decided<Decision> =
  | { readonly decision: Decision; readonly onLate?: never }
  | { readonly decision?: never; readonly onLate: "go_on" | "refuse" };

/**
 * Calls one of the author's hooks, waits for it up to its deadline, and checks what it returns. Counts the call, and
 * logs a hook that is late or fails, unless `cut` has aborted. Never rejects.
 */
export async function callTurnHook<Run extends object, Decision>(
  options: HookOptions,
  { name, hook, withinMs: usualMs, schema, call }: HookCall<Run, Decision>,
  cut: AbortSignal,
): Promise<Decided<Decision>> {
  const { sessionId, room, roomSid, agents, state, telemetry, logger } = options;
  const { run, withinMs = usualMs, onLate = "go_on" } = isSettings(hook) ? hook : { run: hook };
  const deadline = AbortSignal.timeout(withinMs);
  const signal = AbortSignal.any([deadline, cut]);
  const agent = agents?.current.name ?? "";
  const conversationId = conversationIdOfRoom(room);
  const session = { sessionId, conversationId, room, roomSid, agent, state: state.value, signal };
  try {
    const running = Promise.resolve().then(() => call(run, session));
    const { data, error } = schema.safeParse(await abortable(running, signal));
    if (error) throw new TypeError(error.issues[0]?.message ?? `${name}: unexpected result`);
    telemetry.recordHook(name, "done");
    return { decision: data };
  } catch (error) {
    if (!cut.aborted) {
      telemetry.recordHook(name, deadline.aborted ? "late" : "failed");
      const what = deadline.aborted ? `timed out after ${withinMs} ms` : "failed";
      logger.warn({ error, room, onLate }, `hook ${name} ${what}`);
    }
    return { onLate };
  }
}

function isSettings<Run extends object>(hook: Run | HookSettings<Run>): hook is HookSettings<Run> {
  return typeof hook !== "function";
}
