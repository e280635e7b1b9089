import { setTimeout as sleep } from "node:timers/promises";
import { RoomServiceClient } from "livekit-server-sdk";
import { expect, inject, test, vi } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { outline } from "../../support/model-view.ts";
import { Participant } from "../../support/participant.ts";
import { TelemetryAgent } from "../../telemetry/telemetry-agent.ts";
import { PlainClient } from "../../support/plain-client.ts";

const rooms = () => new RoomServiceClient(inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret"));
const HELLO = "Hello, this is Parley. How can I help?";

/** The whole text of the first answer that no message asked for. */
async function greeted(user: Participant): Promise<string> {
  const start = await user.next("start_answer");
  await user.next("assistant_sentence", ({ previousId, isFinal }) => previousId === start.id && isFinal);
  return user
    .all("assistant_sentence")
    .flatMap(({ text: sentence }) => sentence || [])
    .join(" ");
}

test("a participant who joins is greeted in the agent's words, and the model sees what was said", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: HELLO } });

  const user = await agent.client("ana");
  expect(await greeted(user)).toBe(HELLO);
  agent.model.script([reply([text("Gladly.")])]);
  await user.answerTo(await user.say("A ticket, please."));

  expect(agent.model.requests).toHaveLength(1);
  expect(outline(agent)).toEqual([
    'user: ["ana" has joined, and has said nothing yet. You speak first.]',
    `assistant: ${HELLO}`,
    "user: A ticket, please.",
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("a greeting answers no message, and says that it is a greeting", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: HELLO } });

  const user = await agent.client("ana");
  const start = await user.next("start_answer");

  expect(start.previousId).toBe(start.id);
});

test("telemetry distinguishes greetings and idle messages from answers", async () => {
  const idle = [{ afterMs: 500, say: "Are you there?" }];
  await using talk = await TelemetryAgent.start({ agent: { greeting: HELLO, idle } });
  const { agent } = talk;
  const user = await agent.client("ana");
  agent.model.script(() => reply([text("Gladly.")]));
  await greeted(user);
  await user.next("assistant_sentence", (body) => body.text === "Are you there?");
  await user.answerTo(await user.say("A ticket, please."));

  await talk.end();

  const turns = talk.receiver.spans.filter(({ name }) => name.startsWith("invoke_agent"));
  const begun = turns.map(({ attributes }) => attributes["parley.turn.begun_by"]);
  expect(begun.slice(0, 3)).toEqual(["agent", "agent", "message"]);
  expect(turns.map(({ attributes }) => attributes["parley.turn.steps"]).slice(0, 3)).toEqual([0, 0, 1]);
});

test("the model writes the greeting when the agent only describes it", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: { ask: "Greet in the participant's language." } } });
  agent.model.script([reply([text("Guten Tag!")])]);

  const user = await agent.client("ana", { preferredLanguage: "de" });

  expect(await greeted(user)).toBe("Guten Tag!");
  expect(outline(agent)).toEqual([
    'user: ["ana" has joined, and has said nothing yet. Speak first: Greet in the participant\'s language.]',
  ]);
});

test("an ordinary LiveKit client is greeted on lk.transcription", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: HELLO } });
  await using user = await PlainClient.join(agent.roomName, "ana");

  await expect.poll(() => user.heard, { timeout: 5_000 }).toEqual([HELLO]);
});

test("a participant called by telephone is greeted after picking up", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: HELLO } });
  const watcher = await agent.client("watcher");
  expect(await greeted(watcher)).toBe(HELLO);
  const attributes = { "sip.callStatus": "dialing" };
  await using _callee = await Participant.join(agent.roomName, "callee", { kind: "sip", attributes });
  await vi.waitUntil(() => agent.room.remoteParticipants.has("callee"), { timeout: 5_000 });
  const setStatus = async (status: string) => {
    await rooms().updateParticipant(agent.roomName, "callee", { attributes: { "sip.callStatus": status } });
    const seen = () => agent.room.remoteParticipants.get("callee")?.attributes["sip.callStatus"];
    await vi.waitUntil(() => seen() === status, { timeout: 5_000 });
  };
  await setStatus("ringing");
  await sleep(300);
  const before = watcher.all("start_answer").length;

  await setStatus("active");

  await vi.waitUntil(() => watcher.all("start_answer").length === 2, { timeout: 5_000 });
  expect(before).toBe(1);
});

test("a participant who comes back is not greeted again, and the next worker greets nobody", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: HELLO } });
  const user = await agent.client("ana");
  await greeted(user);
  await user.leave();
  const again = await agent.client("ana");
  await agent.leave();
  await agent.join();
  await again.configure({});
  agent.model.script([reply([text("Yes.")])]);

  await again.answerTo(await again.say("Still there?"));

  expect(await agent.sql`select input from turns where parent_message_id is null`).toHaveLength(1);
});

test("each of several participants is greeted", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: HELLO } });
  await greeted(await agent.client("ana"));

  await agent.client("bob");

  const count = () => agent.sql`select from turns where parent_message_id is null and state = 'completed'`;
  await expect.poll(count, { timeout: 5_000 }).toHaveLength(2);
});

test("a participant who speaks first is answered, and not greeted", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: HELLO } });
  await using user = await PlainClient.join(agent.roomName, "ana");
  agent.model.script([reply([text("Hi.")])]);

  await user.write("Hello?");
  await expect.poll(() => user.heard, { timeout: 5_000 }).toEqual(["Hi."]);
  // Waits until a greeting would have come: it waits 1 s for a Configuration, which an ordinary client never sends.
  await new Promise((resolve) => setTimeout(resolve, 1_200));

  expect(await agent.sql`select from turns`).toHaveLength(1);
});

test("a greeting that its worker did not finish is not said twice", async () => {
  await using agent = await TestAgent.start({ agent: { greeting: HELLO } });
  const user = await agent.client("ana");
  await greeted(user);
  await agent.leave();
  // Makes it look as if the worker had died before it could store the end of the turn.
  await agent.sql`update turns set state = 'running', finished_at = null`;

  await agent.join();
  await user.configure({});
  agent.model.script([reply([text("Yes.")])]);
  await user.answerTo(await user.say("Still there?"));

  await agent.leave();
  expect(agent.model.requests).toHaveLength(1);
  expect(await agent.sql`select text_content from turn_blocks order by created_at`).toEqual([
    { text_content: HELLO },
    { text_content: "Yes." },
  ]);
});
