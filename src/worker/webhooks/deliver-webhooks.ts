import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "../../store/database/pool.ts";
import { type DueWebhook, markDelivered, markFailed, takeWebhooks } from "../../store/webhooks/webhooks.ts";
import { PARLEY } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { loadSessionEnded } from "../hooks/load-session-ended.ts";
import type { Logger } from "../logger.ts";
import type { Service } from "../services/service.ts";
import { SEND_LIMIT_MS, sendWebhook, type WebhookReceiver } from "./send-webhook.ts";

interface DeliveryOptions {
  readonly receiver: WebhookReceiver;
  readonly sql: Sql;
  readonly logger: Pick<Logger, "warn" | "error">;
  readonly telemetry?: Pick<Telemetry, "instruments"> | undefined;
  /** The delays after failed attempts. If the attempt after the last delay fails, the webhook is dead. */
  readonly delaysMs?: readonly number[];
  /** How long this worker has for an attempt. After that, another worker may retry, because this one may have died. */
  readonly leaseMs?: number;
}

const CHECK_EVERY_MS = 2_000;
/** The maximum number of webhooks that one worker sends at the same time. */
const BATCH = 5;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The schedule that Standard Webhooks proposes: three days in total. */
const DELAYS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];
/**
 * How long a worker has for an attempt. Longer than a request may take, because data is read before the request and the
 * result is stored after it.
 */
const LEASE_MS = SEND_LIMIT_MS + 5 * SECOND;

/**
 * Sends due webhooks, including those from other workers, until `close`. If `close` interrupts a request, another
 * worker sends that webhook again, with the same webhook id. So each webhook is sent at least once.
 */
export function startDelivery(options: DeliveryOptions): Service {
  const { sql, logger, leaseMs = LEASE_MS } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const complain = (error: unknown) => logger.warn({ error }, "processing webhooks failed, retrying");
  const check = async () => {
    for (let count = BATCH; count === BATCH && !signal.aborted;) {
      const due = await takeWebhooks(sql, { limit: BATCH, leaseMs });
      await Promise.all(due.map((webhook) => deliver(webhook, options, signal).catch(complain)));
      count = due.length;
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      await check().catch(complain);
      await sleep(CHECK_EVERY_MS * (0.7 + Math.random() * 0.6), undefined, { signal, ref: false }).catch(() => {});
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

async function deliver(webhook: DueWebhook, options: DeliveryOptions, signal: AbortSignal): Promise<void> {
  const { receiver, sql, logger, telemetry, delaysMs = DELAYS_MS } = options;
  const { id, attempt } = webhook;
  const read = await readBody(webhook, options);
  if (!read) return;
  const why = "why" in read ? read.why : await sendWebhook(receiver, { id, body: read.body }, signal);
  if (why !== undefined && signal.aborted) return;
  const delayMs = delaysMs[attempt - 1];
  const nextInMs = delayMs && Math.round(delayMs * (0.8 + Math.random() * 0.4));
  const failed = nextInMs === undefined ? "dead" : "failed";
  quietly(() =>
    telemetry?.instruments.webhooks.add(1, { [PARLEY.webhookEnd]: why === undefined ? "delivered" : failed }),
  );
  if (why === undefined) return markDelivered(sql, { id });
  if (nextInMs === undefined) logger.error({ webhookId: id, attempt, why }, "webhook delivery failed, giving up");
  else logger.warn({ webhookId: id, attempt, why, nextInMs }, "webhook delivery failed, retrying");
  await markFailed(sql, { id, attempt, why, nextInMs });
}

/** Returns the body to send, or why it cannot be read; `undefined` if the session and its webhooks were deleted. */
async function readBody(
  webhook: DueWebhook,
  { sql, logger }: Pick<DeliveryOptions, "sql" | "logger">,
): Promise<{ readonly body: string } | { readonly why: string } | undefined> {
  try {
    const data = await loadSessionEnded(sql, webhook);
    const type = "session.ended";
    return data && { body: JSON.stringify({ type, timestamp: new Date(data.endedAt).toISOString(), data }) };
  } catch (error) {
    logger.warn({ error, webhookId: webhook.id }, "reading session for webhook failed");
    return { why: "the session could not be read" };
  }
}
