import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";

const isAcknowledged = (user: Participant, stanzaId: number) =>
  user.all("acknowledgement").some((body) => body.acknowledgedStanzaId === stanzaId);

test("messages that waited for a turn are answered by the next worker, in order, once", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("One. And so on, and so on.")], { slow: 100, chunking: 4 })]);
  await user.say("First");
  await user.next("start_answer");
  const [second, third] = [createId(), createId()];
  const stanzas: number[] = [];
  for (const id of [second, third])
    stanzas.push(await user.send({ type: "user_message", body: { id, content: `Next ${stanzas.length}` } }));
  await user.until(() => stanzas.every((stanzaId) => isAcknowledged(user, stanzaId)), "both Acks");
  await user.room.localParticipant?.sendText("From chat", { topic: "lk.chat" });
  await expect.poll(async () => (await agent.sql`select from waiting_messages`).length).toBe(3);

  await agent.leave();
  agent.model.script([reply([text("Two.")]), reply([text("Three.")]), reply([text("Four.")])]);
  await agent.join();

  expect(await user.answerTo(second)).toBe("Two.");
  expect(await user.answerTo(third)).toBe("Three.");
  await expect.poll(async () => (await agent.sql`select from waiting_messages`).length).toBe(0);
  await agent.leave();
  const turns = await agent.sql<{ input: { text: string }[] }[]>`select input from turns order by position`;
  expect(turns.map(({ input }) => input[0]?.text)).toEqual(["First", "Next 0", "Next 1", "From chat"]);
});

test("a user message is acknowledged once it is stored, however often it arrives, and the answer's words do not wait for that", async () => {
  await using agent = await TestAgent.start({ hasDatabaseProxy: true });
  const user = await agent.client("user");
  agent.model.script([reply([text("One. Two.")])]);
  agent.database?.pause();

  const message = { type: "user_message", body: { id: createId(), content: "Hi" } } as const;
  const stanzaId = await user.send(message);
  expect(await user.answerTo(message.body.id)).toBe("One. Two.");
  await user.send(message, { stanzaId });
  // Sends the message under a new number, as a client does after a short disconnection.
  const again = await user.send(message);
  const later = await user.send({ type: "audio_chunk", body: {} });
  await user.until(() => isAcknowledged(user, later), "the Ack of what came after it");
  const tooEarly = [stanzaId, again].filter((sent) => isAcknowledged(user, sent));
  agent.database?.resume();

  expect(tooEarly).toEqual([]);
  await user.until(() => [stanzaId, again].every((sent) => isAcknowledged(user, sent)), "both Acks");
});
