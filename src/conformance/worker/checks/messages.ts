import { createId } from "../../../lib/id.ts";
import { MESSAGES } from "../../../protocol/messages/messages.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import type { KitClient } from "../kit-client.ts";
import type { WorkerTalk } from "../worker-talk.ts";

const check = make<WorkerTalk>;
const NOT_TWICE = "A repeated stanzaId or message id is acknowledged and isn't handled twice";
const TOLERANT =
  "the worker accepts keys in any order, extra keys, no `meta`, nil or extension 0 for an absent field, empty text for an absent optional id or choice, floats and 64-bit integers where an integer is meant.";
const ODD_KEYS = "The keys `__proto__`, `constructor` and `prototype` are keys like any other.";
const USER_MESSAGE = MESSAGES.user_message.number;

const answersTo = (client: KitClient, id: string) =>
  client.all("start_answer").filter(({ previousId }) => previousId === id);

/** Participants' messages and their answers. */
export const messageChecks: readonly Check<WorkerTalk>[] = [
  check(
    "message.answered",
    [
      "MUST",
      "| `previousId` | text | yes | The user message that it answers. If the agent starts by itself: the last user message, or this answer's own `id` if there is none. |",
    ],
    async ({ client }) => {
      await client.answered(await client.say("Hello"));
    },
  ),
  check(
    "message.acknowledged",
    [
      "MUST",
      "Every client message with a positive stanzaId is acknowledged before it is handled, a UserMessage once it is stored, and a ControlStop, ControlVariation or PermissionResponse once it is accepted.",
    ],
    async ({ client }) => {
      const stanzaId = client.nextStanza();
      await client.answered(await client.say("Hello again", { stanzaId }));
      await client.acknowledged(stanzaId);
    },
  ),
  check(
    "message.sentences",
    ["MUST", "| `sequence` | integer | yes | From 1, without gaps in an answer. |"],
    async ({ client }) => {
      const answer = await client.answered(await client.say("Hello once more"));
      const numbers = client.all("assistant_sentence").filter(({ previousId }) => previousId === answer);
      const sequence = numbers.map((body) => body.sequence).join();
      ensure(sequence === numbers.map((_, index) => index + 1).join(), `The sentences have the sequence ${sequence}`);
    },
  ),
  check(
    "message.one-end",
    ["MUST", "The last piece of an answer always has `isFinal: true`, even if its text is empty."],
    async ({ client }) => {
      const answer = await client.answered(await client.say("Hello and good bye"));
      await client.settle();
      const ends = client
        .all("assistant_sentence")
        .filter(({ previousId, isFinal }) => previousId === answer && isFinal);
      ensure(ends.length === 1, `An answer has ${ends.length} final sentences`);
    },
  ),
  check("message.blocks", ["MUST", "`turn_complete` are sent only once they are stored,"], async ({ client }) => {
    const answer = await client.answered(await client.say("Hello, blocks"));
    const end = await client.next("block_event", ({ event, turnId }) => event === "turn_complete" && turnId === answer);
    ensure(end.state === "completed", `The turn ended as ${end.state}`);
  }),
  check("message.same-stanza", ["MUST", NOT_TWICE], async ({ client }) => {
    const id = createId();
    const stanzaId = await client.send({ type: "user_message", body: { id, content: "Once" } });
    await client.answered(id);
    await client.send({ type: "user_message", body: { id, content: "Once" } }, { stanzaId });
    await client.settleAnswers();
    ensure(answersTo(client, id).length === 1, "The worker answered a resent stanza twice");
  }),
  check("message.same-id", ["MUST", NOT_TWICE], async ({ client }) => {
    const id = createId();
    await client.send({ type: "user_message", body: { id, content: "Once, too" } });
    await client.answered(id);
    await client.acknowledged(await client.send({ type: "user_message", body: { id, content: "Once, too" } }));
    await client.settleAnswers();
    ensure(answersTo(client, id).length === 1, "The worker answered a message sent as two stanzas twice");
  }),
  check(
    "message.long",
    ["MUST", "A frame over 15,000 bytes is sent as a byte stream on the same topic, up to 4 MiB."],
    async ({ client }) => {
      await client.answered(await client.say(`Hello${", hello".repeat(5_000)}`));
    },
  ),
  check("message.empty-topic", ["MUST", "the worker also reads the empty topic, and no other."], async ({ client }) => {
    await client.answered(await client.say("Hello without a topic", { topic: "" }));
  }),
  check("message.other-topic", ["MUST", "the worker also reads the empty topic, and no other."], async ({ client }) => {
    const id = await client.say("Not for you", { topic: "lk.conformance" });
    await client.settleAnswers();
    ensure(!client.isAnswered(id), "The worker answered a message on another topic");
  }),
  check("message.tolerant", ["MUST", TOLERANT], async ({ client }) => {
    const id = createId();
    const body = { later: "unknown", content: "Hello, tolerant reader", previousId: "", attachments: null, id };
    await client.sendWrong({
      body,
      meta: null,
      newer: true,
      stanzaId: BigInt(client.nextStanza()),
      type: USER_MESSAGE,
    });
    await client.answered(id);
  }),
  check("message.odd-keys", ["MUST", ODD_KEYS], async ({ client }) => {
    const id = createId();
    const attachments = [{ text: "Milk", constructor: "x", prototype: { constructor: 1 } }];
    await client.sendWrong({ type: USER_MESSAGE, body: { id, content: "Hello, odd keys", attachments } });
    await client.answered(id);
  }),
  check(
    "message.other-conversation",
    ["MUST", "a message that names another conversation is answered with error 201 and not handled."],
    async ({ client }) => {
      const id = createId();
      const conversationId = "ac_of_somebody_else";
      await client.sendWrong({ type: USER_MESSAGE, conversationId, body: { conversationId, id, content: "Hello?" } });
      await client.next("error_message", ({ code, originatingId }) => code === 201 && originatingId === id);
      await client.settleAnswers();
      ensure(!client.isAnswered(id), "The worker also answered the message");
    },
  ),
];
