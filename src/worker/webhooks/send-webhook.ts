import { signWebhook } from "./sign-webhook.ts";

export interface WebhookReceiver {
  readonly url: string;
  readonly secret: string;
}

interface Message {
  readonly id: string;
  readonly body: string;
}

/** A receiver answers within this time, or has failed. */
export const SEND_LIMIT_MS = 10_000;

/** Sends one webhook, once. Resolves to why the receiver has not taken it; `undefined`: it has. Never rejects. */
export async function sendWebhook(
  { url, secret }: WebhookReceiver,
  { id, body }: Message,
  signal: AbortSignal,
): Promise<string | undefined> {
  const timestamp = Math.floor(Date.now() / 1_000);
  const headers = {
    "content-type": "application/json",
    "user-agent": "parley",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook(secret, { id, timestamp, body }),
  };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SEND_LIMIT_MS)]);
  try {
    // Who is told is the operator's choice, not that of another server.
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: limit });
    // Only the status counts: an answer without an end costs nothing.
    await response.body?.cancel().catch(() => {});
    return response.ok ? undefined : `status ${response.status}`;
  } catch (error) {
    return describe(error);
  }
}

/** Without its message, which may hold the address. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if (error.name === "TimeoutError") return `no answer within ${SEND_LIMIT_MS / 1_000} s`;
  const { cause } = error;
  return cause instanceof Error && "code" in cause ? String(cause.code) : error.name;
}
