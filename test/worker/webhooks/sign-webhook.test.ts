import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { isWebhookSecret, signWebhook } from "../../../src/worker/webhooks/sign-webhook.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test("a signature matches Standard Webhooks' own example", () => {
  const example = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: '{"test": 2432232314}' };

  expect(signWebhook(secret, example)).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

test("a receiver's library accepts what is signed now, and refuses it with another id, body or time", () => {
  const timestamp = Math.floor(Date.now() / 1_000);
  const body = '{"said":"Grüße 👋"}';
  const headers = {
    "webhook-id": "ended_1",
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook(secret, { id: "ended_1", timestamp, body }),
  };
  const webhook = new Webhook(secret);
  const refused = [
    () => webhook.verify(`${body} `, headers),
    () => webhook.verify(body, { ...headers, "webhook-id": "ended_2" }),
    () => webhook.verify(body, { ...headers, "webhook-timestamp": String(timestamp - 1) }),
  ];

  expect(webhook.verify(body, headers)).toEqual(JSON.parse(body));
  for (const verify of refused) expect(verify).toThrow("No matching signature");
});

test("a copied webhook that is sent again later is refused by a receiver's library", () => {
  const webhook = new Webhook(secret);
  const signedAt = (timestamp: number) => ({
    "webhook-id": "ended_1",
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook(secret, { id: "ended_1", timestamp, body: "{}" }),
  });
  const now = Math.floor(Date.now() / 1_000);

  expect(webhook.verify("{}", signedAt(now - 240))).toEqual({});
  expect(() => webhook.verify("{}", signedAt(now - 360))).toThrow("timestamp too old");
});

test.each([
  ["", false],
  ["a text that is long enough to be a secret", false],
  ["whsec_", false],
  [`whsec_${Buffer.alloc(23).toString("base64")}`, false],
  [`whsec_${Buffer.alloc(24).toString("base64")}`, true],
  [`whsec_${Buffer.alloc(64).toString("base64")}`, true],
  [`whsec_${Buffer.alloc(65).toString("base64")}`, false],
  [`whsec_${Buffer.alloc(32, 255).toString("base64url")}`, false],
])("%j is a secret: %s", (text, is) => {
  expect(isWebhookSecret(text)).toBe(is);
});
