import { createHmac } from "node:crypto";

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** Whether a secret has the format that Standard Webhooks libraries accept. */
export function isWebhookSecret(secret: string): boolean {
  const { length } = keyOf(secret);
  return length >= 24 && length <= 64;
}

interface Signed {
  readonly id: string;
  /** The time of the attempt, in Unix seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** @returns the `webhook-signature` header of Standard Webhooks */
export function signWebhook(secret: string, { id, timestamp, body }: Signed): string {
  return `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}

function keyOf(secret: string): Buffer {
  return Buffer.from(SECRET.exec(secret)?.[1] ?? "", "base64");
}
