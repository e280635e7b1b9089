import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "../../../lib/id.ts";
import type { MessageBody } from "../../../protocol/messages/messages.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import type { ClientTalk } from "../client-talk.ts";

const check = make<ClientTalk>;
const DENSE = "| `sequence` | integer | yes | From 1, without gaps in an answer. |";
const FINAL = "The last piece of an answer always has `isFinal: true`, even if its text is empty.";

/** Makes the client send a text. @returns the client's UserMessage */
export async function say(talk: ClientTalk, text: string): Promise<MessageBody<"user_message">> {
  talk.program.command({ command: "say", text });
  return talk.next("user_message", ({ content }) => content === text);
}

export const startAnswer = (talk: ClientTalk, id: string, previousId: string) =>
  talk.send({ type: "start_answer", body: { id, previousId, answerType: "text" } });

type Sentence = Omit<MessageBody<"assistant_sentence">, "id">;
export const sendSentence = (talk: ClientTalk, sentence: Sentence, stanzaId?: number) =>
  talk.send(
    { type: "assistant_sentence", body: { id: createId(), ...sentence } },
    stanzaId === undefined ? {} : { stanzaId },
  );

async function ensureAnswer(talk: ClientTalk, messageId: string, expected: string): Promise<void> {
  const { text } = await talk.program.next("answer", (event) => event["messageId"] === messageId);
  ensure(text === expected, `The answer is "${expected}", but the client got "${String(text)}"`);
}

/** The participant's messages and the worker's answers. */
export const talkChecks: readonly Check<ClientTalk>[] = [
  check("talk.user-message", ["MUST", "| `content` | text | yes | What the participant wrote. |"], async (talk) => {
    await say(talk, "What is in my notes? ☕");
  }),
  check(
    "talk.message-ids",
    ["MUST", "A repeated stanzaId or message id is acknowledged and isn't handled twice"],
    async (talk) => {
      const first = await say(talk, "Once");
      const second = await say(talk, "Once more");
      ensure(first.id !== second.id, "Two messages have the same id, so the worker would ignore the second");
    },
  ),
  check(
    "talk.answer",
    ["MUST", "A turn: UserMessage or a final Transcription → StartAnswer → AssistantSentence…"],
    async (talk) => {
      const { id } = await say(talk, "Tell me two things");
      const answer = createId();
      await startAnswer(talk, answer, id);
      await sendSentence(talk, { previousId: answer, sequence: 1, text: "One.", isFinal: false });
      await sendSentence(talk, { previousId: answer, sequence: 2, text: "Two.", isFinal: true });
      await ensureAnswer(talk, id, "One. Two.");
    },
  ),
  check("talk.empty-end", ["MUST", FINAL], async (talk) => {
    const { id } = await say(talk, "Tell me one thing");
    const answer = createId();
    await startAnswer(talk, answer, id);
    await sendSentence(talk, { previousId: answer, sequence: 1, text: "One.", isFinal: false });
    await sendSentence(talk, { previousId: answer, sequence: 2, text: "", isFinal: true });
    await ensureAnswer(talk, id, "One.");
  }),
  check(
    "talk.long-sentence",
    ["MUST", "A frame over 15,000 bytes is sent as a byte stream on the same topic"],
    async (talk) => {
      const { id } = await say(talk, "Tell me a long thing");
      const answer = createId();
      const text = `Once${" and again".repeat(4_000)}.`;
      await startAnswer(talk, answer, id);
      await sendSentence(talk, { previousId: answer, sequence: 1, text, isFinal: true });
      await ensureAnswer(talk, id, text);
    },
  ),
  check("talk.order", ["SHOULD", DENSE], async (talk) => {
    const { id } = await say(talk, "Tell me three things");
    const answer = createId();
    await startAnswer(talk, answer, id);
    await sendSentence(talk, { previousId: answer, sequence: 2, text: "Two.", isFinal: false });
    await sendSentence(talk, { previousId: answer, sequence: 1, text: "One.", isFinal: false });
    await sendSentence(talk, { previousId: answer, sequence: 3, text: "Three.", isFinal: true });
    await ensureAnswer(talk, id, "One. Two. Three.");
  }),
  check("talk.late-sentence", ["SHOULD", DENSE], async (talk) => {
    const { id } = await say(talk, "Tell me two things, late");
    const answer = createId();
    await startAnswer(talk, answer, id);
    await sendSentence(talk, { previousId: answer, sequence: 2, text: "Two.", isFinal: true });
    await sleep(200);
    await sendSentence(talk, { previousId: answer, sequence: 1, text: "One.", isFinal: false });
    await ensureAnswer(talk, id, "One. Two.");
  }),
  check("talk.duplicate", ["MUST", "Skip a stanzaId that you have seen"], async (talk) => {
    const { id } = await say(talk, "Tell me one thing, twice");
    const answer = createId();
    const stanzaId = await startAnswer(talk, answer, id);
    const sentence = { id: createId(), previousId: answer, sequence: 1, text: "One.", isFinal: false };
    const number = await talk.send({ type: "assistant_sentence", body: sentence });
    await talk.send({ type: "assistant_sentence", body: sentence }, { stanzaId: number });
    await talk.send({ type: "start_answer", body: { id: answer, previousId: id, answerType: "text" } }, { stanzaId });
    await talk.settle();
    const shown = talk.program.all("sentence").filter((event) => event["answerId"] === answer);
    ensure(shown.length === 1, `A sentence sent twice with one stanzaId was shown ${shown.length} times`);
  }),
  check(
    "talk.failure",
    [
      "MUST",
      "A turn that fails has an ErrorMessage with the UserMessage's id as `originatingId`, then a short explanation for the participant and the final sentence",
    ],
    async (talk) => {
      const { id } = await say(talk, "This will fail");
      const answer = createId();
      await startAnswer(talk, answer, id);
      const body = { id: createId(), code: 503, message: "The model is away", severity: 2, recoverable: true } as const;
      await talk.send({ type: "error_message", body: { ...body, originatingId: id } });
      await sendSentence(talk, { previousId: answer, sequence: 1, text: "", isFinal: true });
      await talk.program.next("error", (event) => event["originatingId"] === id && event["code"] === 503);
    },
  ),
  check("talk.stop", ["MUST", "A participant's decision to stop."], async (talk) => {
    const { id } = await say(talk, "Tell me everything");
    const answer = createId();
    await startAnswer(talk, answer, id);
    await talk.program.next("answer_start", (event) => event["messageId"] === id);
    talk.program.command({ command: "stop" });
    const { targetId } = await talk.next("control_stop");
    ensure((targetId ?? answer) === answer, `The client's targetId is ${targetId}, which is a different answer`);
  }),
  check(
    "talk.whole-answer",
    ["SHOULD", "A whole answer, sent to a client that comes back when the answer's own messages are no longer held"],
    async (talk) => {
      const body = { id: createId(), previousId: "msg_of_yesterday", content: "You have milk." };
      await talk.send({ type: "assistant_message", body });
      await ensureAnswer(talk, "msg_of_yesterday", "You have milk.");
    },
  ),
];

const SLOW_MS = 6_000;

/** A worker that acknowledges messages immediately but takes long to answer. */
export const slowChecks: readonly Check<ClientTalk>[] = [
  check(
    "slow.answer",
    ["MUST", "A turn: UserMessage or a final Transcription → StartAnswer → AssistantSentence…"],
    async (talk) => {
      const { id } = await say(talk, "Tell me two things, slowly");
      const answer = createId();
      await sleep(SLOW_MS);
      await startAnswer(talk, answer, id);
      await sendSentence(talk, { previousId: answer, sequence: 1, text: "One.", isFinal: false });
      await sleep(SLOW_MS);
      await sendSentence(talk, { previousId: answer, sequence: 2, text: "Two.", isFinal: true });
      await ensureAnswer(talk, id, "One. Two.");
    },
  ),
];

/** Checks of permission requests. The kit asks the client to announce the feature `permissions`. */
export const permissionChecks: readonly Check<ClientTalk>[] = [
  check(
    "permission.answered",
    ["MUST", "| `id` | text | yes | Put it into the response as `permissionId`. |"],
    async (talk) => {
      talk.needs("permissions");
      const id = await askPermission(talk, "approve this, please");
      const { response } = await talk.next("permission_response", (body) => body.permissionId === id);
      ensure(response === "approve" || response === "once", `The client was told to approve, but answered ${response}`);
    },
  ),
  check(
    "permission.rejected",
    ["MUST", "| `response` | `approve` / `reject` / `once` / `always` | yes |"],
    async (talk) => {
      talk.needs("permissions");
      const id = await askPermission(talk, "reject this, please");
      const { response } = await talk.next("permission_response", (body) => body.permissionId === id);
      ensure(response === "reject", `The client was told to reject, but answered ${response}`);
    },
  ),
  check(
    "permission.closed",
    [
      "SHOULD",
      "expired or was withdrawn, the worker sends a [PermissionResponse](#102-permissionresponse): close its dialog then.",
    ],
    async (talk) => {
      talk.needs("permissions");
      const id = await askPermission(talk, "wait with this, please");
      await talk.program.next("permission", (event) => event["id"] === id);
      const body = { sessionId: "ses_1", permissionId: id, response: "reject", state: "withdrawn" } as const;
      await talk.send({ type: "permission_response", body });
      await talk.program.next("permission_closed", (event) => event["id"] === id);
    },
  ),
];

async function askPermission(talk: ClientTalk, title: string): Promise<string> {
  const id = createId();
  const kind = { type: "bash", pattern: ["ls"], metadataJson: "{}", createdAt: Date.now() };
  await talk.send({
    type: "permission_request",
    body: { id, sessionId: "ses_1", messageId: "msg_a1", title, ...kind },
  });
  return id;
}
