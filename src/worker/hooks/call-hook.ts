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
  const failure = await runHook(call, HOOK_LIMIT_MS);
  if (failure) {
    const what = failure.isLate ? `timed out after ${HOOK_LIMIT_MS / 1_000} s` : "failed";
    logger.error({ error: failure.error, room }, `hook ${name} ${what}`);
  }
  const end = failure ? (failure.isLate ? "late" : "failed") : "done";
  quietly(() => telemetry?.instruments.hooks.add(1, { [PARLEY.hook]: name, [PARLEY.hookEnd]: end }));
}

/** Why a hook has not finished. */
interface HookFailure {
  /** Whether the hook exceeded its deadline. Otherwise it threw. */
  readonly isLate: boolean;
  readonly error: unknown;
}

/** Calls a hook and waits for it, up to its deadline. Never rejects. */
export async function runHook(call: HookCall["call"], limitMs: number): Promise<HookFailure | undefined> {
  const deadline = new AbortController();
  const { signal } = deadline;
  // Unlike the timer of `AbortSignal.timeout`, this one keeps the process alive, which may have nothing else to do.
  const timer = setTimeout(() => deadline.abort(new DOMException("The hook is late", "TimeoutError")), limitMs);
  try {
    await abortable(
      Promise.resolve().then(() => call({ signal })),
      signal,
    );
    return undefined;
  } catch (error) {
    return { isLate: signal.aborted, error };
  } finally {
    clearTimeout(timer);
  }
}
