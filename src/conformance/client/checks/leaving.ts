import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "../../../lib/id.ts";
import type { MessageBody } from "../../../protocol/messages/messages.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import type { Frame } from "../../wire/frame.ts";
import type { ClientTalk } from "../client-talk.ts";
import { say, sendSentence, startAnswer } from "./talking.ts";

const check = make<ClientTalk>;
const CONFIGURE_AGAIN =
  "Join with the same identity and send Configuration with `lastSequenceSeen`, even when LiveKit reconnects by itself.";
const SENT_AGAIN =
  "If you leave, the call waits up to 10 s, within its deadline, for the same identity; the same request is then sent again.";
const BACK_WITHIN_MS = 15_000;

/** Makes the client leave the room and rejoin. @returns its new Configuration */
async function rejoin(talk: ClientTalk): Promise<MessageBody<"configuration">> {
  const before = talk.frames.items.length;
  talk.joins.push(before);
  talk.program.command({ command: "rejoin" });
  return configurationOf(await talk.nextConfiguration(before, BACK_WITHIN_MS));
}

function configurationOf({ message }: Frame): MessageBody<"configuration"> {
  ensure(message?.type === "configuration", "The frame is not a Configuration");
  return message.body;
}

function ensureLastSeen({ lastSequenceSeen }: MessageBody<"configuration">, expected: number): void {
  ensure(
    Math.abs(lastSequenceSeen ?? 0) === Math.abs(expected),
    `The client received stanza ${expected}, but sent lastSequenceSeen ${lastSequenceSeen}`,
  );
}

/** A client that leaves and rejoins. */
export const rejoinChecks: readonly Check<ClientTalk>[] = [
  check("rejoin.configuration", ["MUST", CONFIGURE_AGAIN], async (talk) => void (await rejoin(talk))),
  check("rejoin.last-seen", ["MUST", CONFIGURE_AGAIN], async (talk) => {
    await talk.settle();
    const last = talk.lastStanza;
    ensureLastSeen(await rejoin(talk), last);
  }),
  check(
    "rejoin.missed",
    [
      "MUST",
      "then, once more, the messages after that stanza that it still holds, in order and with the original stanzaIds and ids;",
    ],
    async (talk) => {
      const { id: messageId } = await say(talk, "Tell me while I am away");
      const answer = createId();
      await startAnswer(talk, answer, messageId);
      const first = { id: createId(), previousId: answer, sequence: 1, text: "One.", isFinal: false };
      const seen = await talk.send({ type: "assistant_sentence", body: first });
      await talk.program.next("sentence", (event) => event["answerId"] === answer);
      const missed = talk.nextStanza();
      talk.replay = () => {
        talk.replay = () => {};
        void talk.send({ type: "assistant_sentence", body: first }, { stanzaId: seen });
        void sendSentence(talk, { previousId: answer, sequence: 2, text: "Two.", isFinal: true }, missed);
      };
      await rejoin(talk);
      const { text } = await talk.program.next("answer", (event) => event["messageId"] === messageId);
      ensure(text === "One. Two.", `The answer is "One. Two.", but the client got "${String(text)}"`);
      const shown = talk.program.all("sentence").filter((event) => event["answerId"] === answer);
      ensure(shown.length === 2, `Two sentences were sent, one of them twice, but the client showed ${shown.length}`);
    },
  ),
  check("rejoin.running-call", ["MUST", SENT_AGAIN], async (talk) => {
    const request = await talk.request({ toolName: "slow", parameters: { ms: 1_000 } });
    await talk.program.next("run", (event) => event["id"] === request.id);
    await rejoin(talk);
    await talk.request(request);
    ensure((await talk.result(request.id)).success, "The call that was running while the client rejoined failed");
    ensure(talk.runs(request.id) === 1, `The tool ran ${talk.runs(request.id)} times`);
  }),
  check("rejoin.lost-result", ["MUST", SENT_AGAIN], async (talk) => {
    const request = await talk.request({ toolName: "echo", parameters: { text: "lost" } });
    await talk.result(request.id);
    const count = talk.results(request.id).length;
    await rejoin(talk);
    await talk.request(request);
    await talk.frames.next(() => talk.results(request.id)[count], "the result of the resent request");
    ensure(talk.runs(request.id) === 1, `The tool ran ${talk.runs(request.id)} times`);
  }),
];

/** A worker that dies, and the worker that replaces it. */
export const otherWorkerChecks: readonly Check<ClientTalk>[] = [
  check("worker.killed", ["MUST", "send Configuration again when another agent joins."], async (talk) => {
    await replaceWorker(talk);
  }),
  check(
    "worker.open-call",
    [
      "MUST",
      "worker sends an Ack; then each answer that it no longer holds, as an AssistantMessage (the last 50); then, once more, the messages after that stanza that it still holds, in order and with the original stanzaIds and ids; then its Configuration and your open requests.",
    ],
    async (talk) => {
      const request = await talk.request({ toolName: "slow", parameters: { ms: 1_500 } });
      await talk.program.next("run", (event) => event["id"] === request.id);
      await replaceWorker(talk);
      await talk.request(request);
      ensure((await talk.result(request.id)).success, "The call that the first worker requested failed");
      ensure(talk.runs(request.id) === 1, `The tool ran ${talk.runs(request.id)} times`);
    },
  ),
  check(
    "worker.away",
    ["SHOULD", "A resolved send is not a delivery: only an answer proves delivery."],
    async (talk) => {
      await talk.stopWorker();
      await sleep(300);
      talk.program.command({ command: "say", text: "Said to nobody" });
      await sleep(300);
      await talk.startWorker();
      await talk.next("user_message", ({ content }) => content === "Said to nobody", BACK_WITHIN_MS);
    },
  ),
];

async function replaceWorker(talk: ClientTalk): Promise<void> {
  const before = talk.frames.items.length;
  await talk.stopWorker();
  await talk.startWorker();
  await talk.nextConfiguration(before, BACK_WITHIN_MS);
}

/**
 * Returns the checks of a client whose connection to LiveKit breaks when `cut` is called. LiveKit's client SDK then
 * reconnects by itself.
 */
export function cutChecks(cut: () => void): readonly Check<ClientTalk>[] {
  return [
    check("reconnect.by-itself", ["MUST", CONFIGURE_AGAIN], async (talk) => {
      await talk.settle();
      const before = talk.frames.items.length;
      const last = talk.lastStanza;
      cut();
      ensureLastSeen(configurationOf(await talk.nextConfiguration(before, BACK_WITHIN_MS)), last);
    }),
  ];
}
