import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "../../../lib/id.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { MESSAGES } from "../../../protocol/messages/messages.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import { pack } from "../../wire/pack.ts";
import type { KitClient } from "../kit-client.ts";
import type { WorkerTalk } from "../worker-talk.ts";

const check = make<WorkerTalk>;
const NEVER_ENDS = "Nothing that a client sends ends the session.";
const USER_MESSAGE = MESSAGES.user_message.number;

const errorsAbout = (client: KitClient, id: string) =>
  client.all("error_message").filter(({ originatingId }) => originatingId === id);

async function ensureAlive(client: KitClient): Promise<void> {
  await client.answered(await client.say("Are you still there?"));
}

/** Messages that a worker must reject or ignore. */
export const refusedMessageChecks: readonly Check<WorkerTalk>[] = [
  check(
    "refused.unknown-type",
    ["MUST", "| 102 | unknown type; reported only if the message had an id |"],
    async ({ client }) => {
      const id = createId();
      await client.acknowledged(await client.sendWrong({ type: 42, body: { id } }));
      await client.next("error_message", ({ code, originatingId }) => code === 102 && originatingId === id);
    },
  ),
  check(
    "refused.unknown-type-without-id",
    ["MUST", "| 102 | unknown type; reported only if the message had an id |"],
    async ({ client }) => {
      const before = client.all("error_message").length;
      await client.acknowledged(await client.sendWrong({ type: 43 }));
      await client.settle();
      ensure(client.all("error_message").length === before, "The worker answered with an ErrorMessage");
    },
  ),
  check(
    "refused.malformed",
    ["MUST", "| 101 | malformed message, or an invalid announced tool |"],
    async ({ client }) => {
      const id = createId();
      await client.acknowledged(await client.sendWrong({ type: USER_MESSAGE, body: { id, content: 7 } }));
      await client.next("error_message", ({ code, originatingId }) => code === 101 && originatingId === id);
    },
  ),
  check(
    "refused.without-content",
    ["MUST", "A refusal names what was wrong and never repeats the content."],
    async ({ client }) => {
      const id = createId();
      await client.sendWrong({ type: USER_MESSAGE, body: { id, content: ["a secret"] } });
      await client.next("error_message", ({ originatingId }) => originatingId === id);
      const [{ message } = { message: "" }] = errorsAbout(client, id);
      ensure(
        message.includes("content") && !message.includes("secret"),
        `The error does not name the field, or repeats the content: "${message}"`,
      );
    },
  ),
  check(
    "refused.error",
    ["MUST", "both ways · answer: Ack when a client sends it; never another ErrorMessage."],
    async ({ client }) => {
      const before = client.all("error_message").length;
      await client.acknowledged(
        await client.send({
          type: "error_message",
          body: { id: "e1", code: 501, message: "Told by the kit", severity: 2, recoverable: true },
        }),
      );
      await client.settle();
      ensure(client.all("error_message").length === before, "The worker answered an ErrorMessage with another one");
    },
  ),
  check(
    "refused.audio-chunk",
    ["MUST", "Accepted and ignored: audio is sent as LiveKit tracks. The body isn't read."],
    async ({ client }) => {
      const before = client.all("error_message").length;
      await client.acknowledged(
        await client.sendWrong({ type: MESSAGES.audio_chunk.number, body: { data: 7, id: [] } }),
      );
      await client.settle();
      ensure(client.all("error_message").length === before, "The worker answered with an ErrorMessage");
    },
  ),
  check(
    "refused.bytes-after",
    ["MUST", "Also refused: bytes after the map, keys that are not text, extension types other than 0 and timestamp."],
    async ({ client }) => {
      const id = createId();
      const frame = pack({
        stanzaId: client.nextStanza(),
        conversationId: "",
        type: USER_MESSAGE,
        meta: {},
        body: { id, content: "Hello" },
      });
      await client.sendBytes(Uint8Array.of(...frame, 0));
      await client.next("error_message", ({ code }) => code === 101);
      await client.settleAnswers();
      ensure(!client.isAnswered(id), "The worker answered a message that has a byte after its map");
    },
  ),
  check("refused.garbage", ["MUST", NEVER_ENDS], async ({ client }) => {
    for (const bytes of [Uint8Array.of(0xc1), Uint8Array.of(0x85, 0xa8), new TextEncoder().encode("Hello?")]) {
      await client.sendBytes(bytes);
    }
    await ensureAlive(client);
  }),
  check("refused.bomb", ["MUST", "| depth, the envelope included | 32 |"], async ({ client }) => {
    await client.sendBytes(Uint8Array.from(Array.from({ length: 10 }, () => [0xdd, 0x02, 0, 0, 0]).flat()));
    await client.sendBytes(Uint8Array.from({ length: 14_000 }, () => 0x91));
    await ensureAlive(client);
  }),
  check("refused.note", ["MUST", "201 when the session has no such message."], async ({ client }) => {
    const id = createId();
    await client.send({ type: "commentary", body: { id, messageId: "never_said", content: "Helpful" } });
    await client.next("error_message", ({ code, originatingId }) => code === 201 && originatingId === id);
  }),
  check(
    "refused.permission",
    ["MUST", "202: there is no such permission, or it was answered, withdrawn or has expired."],
    async ({ client }) => {
      const permissionId = createId();
      await client.send({ type: "permission_response", body: { permissionId, response: "approve" } });
      await client.next("error_message", ({ code, originatingId }) => code === 202 && originatingId === permissionId);
    },
  ),
  // This check is the last one, because it exhausts its sender's rate limit for a while.
  check("refused.too-long", ["MUST", "| envelope | 4194304 bytes |"], async (talk) => {
    await talk.client.sendBytes(new Uint8Array(LIMITS.envelopeBytes + 100_000).fill(0x91), { way: "stream" });
    // A busy machine delivers about 200 kB/s. Until the stream has arrived, LiveKit delivers nobody else's.
    await talk.client.next("error_message", ({ code }) => code === 413, 30_000);
    const other = await talk.join("grace");
    await other.configure();
    await ensureAlive(other);
  }),
];

/** More messages than a worker accepts. */
export const floodChecks: readonly Check<WorkerTalk>[] = [
  check(
    "flood.told-once",
    [
      "MUST",
      "One ErrorMessage 429 reports this, with the id of the first such message as `originatingId` and `retryAfterMs`",
    ],
    async ({ client }) => {
      const isRejected = () => client.all("error_message").some(({ code }) => code === 429);
      const stanzas = new Map<string, number>();
      // Small messages, because a busy machine may deliver less than 200 kB/s. Large messages would then never arrive
      // fast enough to exceed the rate limit.
      const note = (id: string) =>
        ({ type: "commentary", body: { id, messageId: "never_said", content: "x" } }) as const;
      while (!isRejected() && stanzas.size < 15 * LIMITS.messageBurst) {
        const ids = Array.from({ length: LIMITS.messageBurst / 2 }, () => createId());
        for (const id of ids) stanzas.set(id, client.nextStanza());
        await Promise.all(ids.map((id) => client.send(note(id), { stanzaId: stanzas.get(id) ?? 0 })));
      }
      const { originatingId = "", retryAfterMs = 0 } = await client.next("error_message", ({ code }) => code === 429);
      ensure(stanzas.has(originatingId), "The error's originatingId is not the id of a sent message");
      ensure(retryAfterMs > 0, "The error has no retryAfterMs");
      const stanzaId = stanzas.get(originatingId) ?? 0;
      // Try several times: messages that are still in transit may use up the budget as soon as it becomes available
      // again.
      for (let tries = 0; tries < 8 && !client.isAcknowledged(stanzaId); tries++) {
        await sleep(retryAfterMs + 200);
        await client.send(note(originatingId), { stanzaId });
      }
      await client.acknowledged(stanzaId);
    },
  ),
];
