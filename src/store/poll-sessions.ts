import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "./database/pool.ts";
import type { LoadMarks } from "./sessions/session-marks.ts";

interface PollOptions {
  readonly sql: Sql;
  readonly loadMarks: LoadMarks;
  /** Returns the sessions to poll now. */
  readonly followed: () => readonly string[];
  /** Called when something may have changed in a session. Must not throw. */
  readonly onChanged: (sessionId: string) => void;
  /** Called when polling fails, but only once until polling has succeeded again. */
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const POLL_EVERY_MS = 1_000;

/**
 * Polls the database every second for changed sessions, with one statement for all of them. A session that is polled
 * for the first time counts as changed. Resolves when `signal` is aborted.
 */
export async function pollSessions(options: PollOptions): Promise<void> {
  const { sql, loadMarks, followed, onChanged, onError, signal } = options;
  let marks: ReadonlyMap<string, string> = new Map();
  let hasFailed = false;
  for (;;) {
    await sleep(POLL_EVERY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const sessionIds = followed();
    try {
      const before = marks;
      marks = sessionIds.length === 0 ? new Map() : await loadMarks(sql, { sessionIds });
      for (const [id, mark] of marks) if (before.get(id) !== mark) onChanged(id);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && !signal.aborted) onError(error);
      hasFailed = true;
    }
  }
}
