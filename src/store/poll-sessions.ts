import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "./database/pool.ts";
import type { LoadMarks } from "./sessions/session-marks.ts";

interface PollOptions {
  readonly sql: Sql;
  readonly loadMarks: LoadMarks;
  /** The sessions to look at now. */
  readonly followed: () => readonly string[];
  /** Called when something may have changed in the session. Must not throw. */
  readonly onChanged: (sessionId: string) => void;
  /** Called at the first failure, and then not again until it works. */
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const POLL_EVERY_MS = 1_000;

/**
 * Asks the database every second, with one statement for all of them, which sessions have changed since it last asked.
 * A session that it asks about for the first time counts as changed. Returns when `signal` is aborted.
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
