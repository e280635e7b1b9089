import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";

test("a room whose conversation started in another room gets no session, and its participants are told why", async () => {
  const id = createId();
  await using agent = await TestAgent.start({ roomName: `conv_ac_${id}` });
  const user = await agent.client("user");
  agent.model.script([reply([text("The secret is 42.")])]);
  await user.answerTo(await user.say("Tell me a secret."));
  await agent.leave();

  await using stranger = await TestAgent.start({ roomName: `ac_${id}`, databaseUrl: agent.databaseUrl });
  await using guest = await Participant.join(stranger.roomName, "user");
  await guest.say("What is the secret?");

  const refusal = { code: 401, message: "The conversation belongs to another room", recoverable: false };
  expect(await guest.next("error_message")).toMatchObject(refusal);
  expect(guest.received.map(({ message }) => message.type)).toEqual(["error_message"]);
  expect(stranger.model.requests).toEqual([]);
  const sessions = await agent.sql`select room from sessions`;
  expect(sessions).toEqual([{ room: agent.roomName }]);
});
