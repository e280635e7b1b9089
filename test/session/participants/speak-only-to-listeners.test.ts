import { expect, test } from "vitest";
import type { Message, MessageBody } from "../../../src/protocol/messages/messages.ts";
import { decode, encode, FakeSession, fakeParticipant } from "../../support/doubles/fake-session.ts";
import { FakeVoice } from "../../support/doubles/fake-voice.ts";

/**
 * A session whose participants, given by name, have told the worker whether they listen. `undefined` means that a
 * participant has not said so.
 */
function room(listeners: Readonly<Record<string, boolean | undefined>>, voice?: FakeVoice) {
  const sent: Message[] = [];
  const { session } = new FakeSession({
    think: () => ({ text: "It is noon." }),
    publish: async (bytes) => void sent.push(decode(bytes).message),
    ...(voice && { voice }),
  });
  const of = <Type extends Message["type"]>(type: Type) =>
    sent.flatMap((message) => (message.type === type ? [message.body as MessageBody<Type>] : []));
  let stanza = 0;
  const say = (identity: string, message: Message) =>
    session.handle({ type: "packet", from: fakeParticipant(identity), bytes: encode(++stanza, message) });
  for (const [identity, listens] of Object.entries(listeners)) {
    session.handle({ type: "joined", participant: fakeParticipant(identity) });
    say(identity, { type: "configuration", body: { ...(listens !== undefined && { listens }) } });
  }
  const ask = async (identity: string) => {
    const before = of("assistant_sentence").length;
    say(identity, { type: "user_message", body: { id: `m${stanza}`, content: "What time is it?" } });
    await expect.poll(() => of("assistant_sentence").slice(before).at(-1)?.isFinal).toBe(true);
    return of("start_answer").at(-1)?.answerType;
  };
  return { of, say, ask };
}

test("the worker says in its Configuration whether it listens and speaks", () => {
  const [spoken] = room({ ann: undefined }, new FakeVoice()).of("configuration");
  const [written] = room({ ann: undefined }).of("configuration");

  expect(spoken).toMatchObject({ listens: true, speaks: true });
  expect(written).toMatchObject({ listens: false, speaks: false });
});

test("an answer is not spoken when every participant has announced that it does not listen", async () => {
  const voice = new FakeVoice();

  expect(await room({ ann: false, ben: false }, voice).ask("ann")).toBe("text");
  expect(voice.said).toEqual([]);
});

test("an answer is spoken while one participant may be listening, and again when one listens again", async () => {
  expect(await room({ ann: false, ben: undefined }, new FakeVoice()).ask("ann")).toBe("text+voice");
  const { ask, say } = room({ ann: false }, new FakeVoice());
  expect(await ask("ann")).toBe("text");

  say("ann", { type: "configuration", body: {} });

  expect(await ask("ann")).toBe("text+voice");
});
