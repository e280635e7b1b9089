import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "../../../lib/id.ts";
import { type Check, check as make, ensure } from "../../check.ts";
import type { Frame } from "../../wire/frame.ts";
import type { ClientTalk } from "../client-talk.ts";
import { say } from "./talking.ts";

const check = make<ClientTalk>;
const RESEND = "If no Ack arrives within a few seconds, send the same stanza again, for up to a minute.";
const RESENT_WITHIN_MS = 12_000;
const RATE =
  "after that time, resend that message and all later ones that were not acknowledged, with the same stanzaIds and ids.";
const RETRY_AFTER_MS = 500;

/** Returns the frames of the client's message with this text. */
function framesOf(talk: ClientTalk, text: string): Frame[] {
  return talk.frames.items.filter(({ message }) => message?.type === "user_message" && message.body.content === text);
}

/**
 * Makes the client send a message, does not acknowledge it, as if it were lost, and waits until the client resends it.
 */
async function loseMessage(talk: ClientTalk, text: string): Promise<readonly Frame[]> {
  const isIt = ({ message }: Frame) => message?.type === "user_message" && message.body.content === text;
  talk.acknowledges = (frame) => !isIt(frame) || framesOf(talk, text).length > 1;
  talk.program.command({ command: "say", text });
  await talk.frames.next(
    () => framesOf(talk, text)[1],
    "the resent message that was not acknowledged",
    RESENT_WITHIN_MS,
  );
  return framesOf(talk, text);
}

/** Messages from the client that are lost. */
export const lostMessageChecks: readonly Check<ClientTalk>[] = [
  check("lost.message", ["MUST", RESEND], async (talk) => {
    const [first, second] = await loseMessage(talk, "Is anybody there?");
    ensure(
      first?.rawBody["id"] === second?.rawBody["id"],
      "The resent message has a different id, so the worker would handle it twice",
    );
  }),
];

export const lostStanzaChecks: readonly Check<ClientTalk>[] = [
  check("lost.same-stanza", ["SHOULD", RESEND], async (talk) => {
    const [first, second] = await loseMessage(talk, "Is anybody here?");
    ensure(
      first?.stanzaId === second?.stanzaId,
      `The message was sent as stanza ${first?.stanzaId}, then resent as ${second?.stanzaId}`,
    );
  }),
];

export const lostResultChecks: readonly Check<ClientTalk>[] = [
  check("lost.result", ["SHOULD", RESEND], async (talk) => {
    talk.acknowledges = ({ message }) => message?.type !== "tool_use_result";
    const { id } = await talk.request({ toolName: "echo" });
    await talk.result(id);
    const look = () => talk.results(id)[1];
    await talk.frames.next(look, "the resent result that was not acknowledged", RESENT_WITHIN_MS);
  }),
];

/** A worker that receives too many messages. */
export const rateChecks: readonly Check<ClientTalk>[] = [
  check("rate.again", ["MUST", RATE], async (talk) => {
    const [first, second] = await refuseMessage(talk, "This is too much");
    ensure(
      first.stanzaId === second.stanzaId,
      `The message was sent as stanza ${first.stanzaId}, then resent as ${second.stanzaId}`,
    );
    ensure(first.rawBody["id"] === second.rawBody["id"], "The resent message has a different id");
  }),
  check("rate.not-before", ["MUST", RATE], async (talk) => {
    const [first, second] = await refuseMessage(talk, "This is too much, too");
    const ms = Math.round(second.at - first.at);
    ensure(ms >= RETRY_AFTER_MS - 20, `The message was resent after ${ms} ms instead of ${RETRY_AFTER_MS}`);
  }),
];

/** Makes the client send a message, rejects it with 429, and waits until it is resent. */
async function refuseMessage(talk: ClientTalk, text: string): Promise<readonly [Frame, Frame]> {
  talk.acknowledges = () => framesOf(talk, text).length !== 1;
  talk.program.command({ command: "say", text });
  const first = await talk.frames.next(() => framesOf(talk, text)[0], "the client's message");
  const originatingId = String(first.rawBody["id"]);
  const error = { id: createId(), code: 429, message: "Too many messages", severity: 1, recoverable: true } as const;
  await talk.send({ type: "error_message", body: { ...error, originatingId, retryAfterMs: RETRY_AFTER_MS } });
  const second = await talk.frames.next(() => framesOf(talk, text)[1], "the resent message that was rejected with 429");
  return [first, second];
}

/** Acknowledged messages, which must not be resent. */
export const acknowledgedChecks: readonly Check<ClientTalk>[] = [
  check(
    "lost.not-after-ack",
    ["SHOULD", "A resolved send is not a delivery: only an answer proves delivery."],
    async (talk) => {
      const { content } = await say(talk, "Acknowledged");
      await sleep(6_000);
      ensure(framesOf(talk, content).length === 1, "The client resent an acknowledged message");
    },
  ),
];
