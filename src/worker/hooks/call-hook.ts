import type { HookContext, Hooks } from "../../agent/hooks.ts";
import { abortable } from "../../lib/abortable.ts";
import { PARLEY } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { Logger } from "../logger.ts";

/**
 * How long a hook may run. Shorter than a worker's shutdown limit, so that session-end hooks can still run during a
 * shutdown.
 */
export const HOOK_LIMIT_MS = 5_000;

interface HookCall {
  readonly name: keyof Hooks;
  /** The room's name, for the log. */
  readonly room: string;
  /** Calls the hook. May load the hook's data first. */
  readonly call: (context: HookContext) => unknown;
}

export interface HookWatch {
  readonly logger: Pick<Logger, "error">;
  /** @defaultValue hook calls are not counted */
  readonly telemetry?: Pick<Telemetry, "instruments"> | undefined;
}

/** Calls a hook and waits for it, up to its deadline. Never rejects. */
export async function callHook({ name, room, call }: HookCall, { logger, telemetry }: HookWatch): Promise<void> {
  const signal = AbortSignal.timeout(HOOK_LIMIT_MS);
  let end = "done";
  try {
    await abortable(
      Promise.resolve().then(() => call({ signal })),
      signal,
    );
  } catch (error) {
    end = signal.aborted ? "late" : "failed";
    const what = signal.aborted ? `timed out after ${HOOK_LIMIT_MS / 1_000} s` : "failed";
    logger.error({ error, room }, `hook ${name} ${what}`);
  }
  quietly(() => telemetry?.instruments.hooks.add(1, { [PARLEY.hook]: name, [PARLEY.hookEnd]: end }));
}
