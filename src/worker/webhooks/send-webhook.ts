import { signWebhook } from "./sign-webhook.ts";

export interface WebhookReceiver {
  readonly url: string;
  readonly secret: string;
}

interface Message {
  readonly id: string;
  readonly body: string;
}

/** How long a receiver may take to answer before the attempt counts as failed. */
export const SEND_LIMIT_MS = 10_000;

/**
 * Sends a webhook once. Resolves to `undefined`, or to the reason why the receiver did not accept it. Never rejects.
 */
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
    // Redirects are not followed: only the server that the operator has chosen may receive the data.
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: limit });
    // Only the status counts. The body is not read, because it might never end.
    await response.body?.cancel().catch(() => {});
    return response.ok ? undefined : `status ${response.status}`;
  } catch (error) {
    return describe(error);
  }
}

/** Describes an error without its message, which may contain the address. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if (error.name === "TimeoutError") return `no answer within ${SEND_LIMIT_MS / 1_000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.name;
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
}
