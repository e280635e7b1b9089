import { setTimeout as sleep } from "node:timers/promises";
import { deleteOldTurns } from "../store/removal/delete-old-turns.ts";
import type { Sql } from "../store/database/pool.ts";
import type { Logger } from "./logger.ts";
import type { Service } from "./services/service.ts";

const EVERY_MS = 60 * 60_000;
/** How many turns are deleted at a time. Batches are small, with a pause after each, so that no session has to wait. */
const BATCH = 100;
const PAUSE_MS = 200;

interface RetentionOptions {
  readonly days: number;
  readonly sql: Sql;
  readonly logger: Pick<Logger, "info" | "warn">;
}

/** Deletes turns older than the retention period, now and every hour. */
export function startRetention({ days, sql, logger }: RetentionOptions): Service {
  const stopping = new AbortController();
  const { signal } = stopping;
  const sweep = async () => {
    let total = 0;
    for (let count = BATCH; count === BATCH && !signal.aborted; total += count) {
      count = await deleteOldTurns(sql, { days, limit: BATCH });
      if (count === BATCH) await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    if (total > 0) logger.info({ turns: total, days }, "old turns deleted");
  };
  const run = async () => {
    while (!signal.aborted) {
      await sweep().catch((error: unknown) => logger.warn({ error }, "deleting old turns failed"));
      await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const ended = run();
  return {
    close: async () => {
      stopping.abort();
      await ended;
    },
  };
}
