import { RoomEvent } from "@livekit/rtc-node";
import { RoomServiceClient } from "livekit-server-sdk";
import { expect, inject, test } from "vitest";
import type { AgentSession } from "../../../src/agent/agent-session.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { offeredTools, outline, toolResults } from "../../support/model-view.ts";
import { PlainClient } from "../../support/plain-client.ts";

const rooms = () => new RoomServiceClient(inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret"));
const identities = async (agent: TestAgent) =>
  (await rooms().listParticipants(agent.roomName))
    .map(({ identity }) => identity)
    .filter((each) => !each.startsWith("agent-"));

test("only the tools that the agent enables are offered", async () => {
  await using agent = await TestAgent.start({
    agent: { callTools: { end_call: true, set_language: ["de", "en"] } },
  });
  const user = await agent.client("ana");
  agent.model.script([reply([text("Yes.")])]);

  await user.answerTo(await user.say("Hello"));

  expect(offeredTools(agent)).toEqual(["end_call", "set_language"]);
});

test("end_call removes the participant from the room after the last words, without another model call", async () => {
  await using agent = await TestAgent.start({ agent: { callTools: { end_call: true } } });
  const user = await agent.client("ana");
  await agent.client("bob");
  agent.model.script([reply([text("Goodbye."), toolUse("end_call")])]);

  expect(await user.answerTo(await user.say("That was all."))).toBe("Goodbye.");

  await expect.poll(() => identities(agent), { timeout: 5_000 }).toEqual(["bob"]);
  expect(agent.model.requests).toHaveLength(1);
});

test("end_call closes the room when nobody else is in it", async () => {
  await using agent = await TestAgent.start({ agent: { callTools: { end_call: true } } });
  const user = await agent.client("ana");
  agent.model.script([reply([text("Goodbye."), toolUse("end_call")])]);

  await user.answerTo(await user.say("That was all."));

  await expect.poll(() => rooms().listRooms([agent.roomName]), { timeout: 5_000 }).toEqual([]);
});

const goodbye = ["text", "Goodbye.", null] as const;
const ended = [
  ["tool_use", null, { tool_use_id: "t", tool_name: "end_call", input: {} }],
  ["tool_result", null, { tool_use_id: "t", content: "{}", is_error: false }],
] as const;

test.each([
  ["by the model", [], [goodbye, ...ended]],
  [
    "after a silence",
    [{ type: "note", note: "Nobody has said anything.", say: "Goodbye.", endsCall: true }],
    [goodbye],
  ],
] as const)(
  "a call that was ended %s ends with the next worker, whose model is not called",
  async (_, input, blocks) => {
    await using agent = await TestAgent.start({ agent: { callTools: { end_call: true } } });
    await agent.leave();
    await agent.sql`
    insert into turns (id, session_id, position, participant_identity, message_id, input)
    select 'left', id, 1, 'ana', 'm', ${agent.sql.json(input as never)} from sessions`;
    for (const [sequence, [blockType, text_content, content]] of blocks.entries())
      await agent.sql`
      insert into turn_blocks (turn_id, sequence, block_type, text_content, content)
      values ('left', ${sequence}, ${blockType}, ${text_content}, ${content && agent.sql.json(content)})`;

    await agent.join();
    await agent.client("ana");

    await expect.poll(() => rooms().listRooms([agent.roomName]), { timeout: 5_000 }).toEqual([]);
    expect(agent.model.requests).toEqual([]);
    expect(await agent.sql`select state, stop_reason from turns`).toMatchObject([{ state: "completed" }]);
  },
);

test.each([
  ["end_call", {}, "end"],
  ["transfer_call", { to: "sales" }, "transfer sales"],
  ["press_keys", { keys: "12#" }, "press 12#"],
  ["skip_turn", {}, "skip"],
  ["set_language", { language: "de" }, "language de"],
])("a rule denies %s by its pattern, and the model continues without it", async (name, input, pattern) => {
  const callTools = {
    end_call: true as const,
    transfer_call: { sales: "tel:+4930123456" },
    press_keys: true as const,
    skip_turn: true as const,
    set_language: ["de"],
  };
  const rules = [{ type: "call", pattern, action: "deny" as const }];
  await using agent = await TestAgent.start({ agent: { callTools, permission: { rules } } });
  const user = await agent.client("ana");
  agent.model.script([reply([toolUse(name, input)]), reply([text("I am still here.")])]);

  expect(await user.answerTo(await user.say("Do it"))).toBe("I am still here.");

  expect(toolResults(agent)).toEqual([{ content: expect.stringContaining("a rule does not allow it"), isError: true }]);
  expect(await identities(agent)).toEqual(["ana"]);
});

test("skip_turn gives no answer, and the next message is answered normally", async () => {
  await using agent = await TestAgent.start({ agent: { callTools: { skip_turn: true } } });
  const user = await agent.client("ana");
  agent.model.script([reply([toolUse("skip_turn")]), reply([text("Here I am.")])]);

  const silence = await user.answerTo(await user.say("Wait, somebody is at the door."));
  const answer = await user.answerTo(await user.say("Back again."));

  expect([silence, answer]).toEqual(["", "Here I am."]);
  expect(outline(agent)).toEqual([
    "user: Wait, somebody is at the door.",
    "assistant: tool_use",
    "user: tool_result, Back again.",
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("set_language changes the language of the participant's next answers", async () => {
  const instructions = ({ participants }: { participants: readonly { language: string | undefined }[] }) =>
    `Speak ${participants[0]?.language ?? "English"}.`;
  await using agent = await TestAgent.start({ agent: { instructions, callTools: { set_language: ["de", "en"] } } });
  const user = await agent.client("ana");
  agent.model.script([
    reply([toolUse("set_language", { language: "de" })]),
    reply([text("Gern.")]),
    reply([text("Ja.")]),
  ]);

  await user.answerTo(await user.say("Deutsch, bitte."));
  await user.answerTo(await user.say("Gut?"));

  const prompts = agent.model.requests.map(({ body }) => (body["system"] as { text: string }[])[0]?.text);
  expect(prompts).toEqual(["Speak English.", "Speak English.", "Speak de."]);
});

test("the chosen language stays with the next worker, until the client announces a different one", async () => {
  const instructions = ({ participants }: AgentSession) => `Speak ${participants[0]?.language ?? "English"}.`;
  await using agent = await TestAgent.start({ agent: { instructions, callTools: { set_language: ["de", "en"] } } });
  const user = await agent.client("ana", { preferredLanguage: "en" });
  const ask = async () => {
    agent.model.script([reply([text("Ja.")])]);
    await user.answerTo(await user.say("Gut?"));
    return (agent.model.requests.at(-1)?.body["system"] as { text: string }[] | undefined)?.[0]?.text;
  };
  agent.model.script([reply([toolUse("set_language", { language: "de" })])]);
  await ask();
  await user.configure({ preferredLanguage: "en" });
  const announced = await ask();

  await agent.leave();
  await agent.join();
  await user.configure({ preferredLanguage: "en" });
  const taken = await ask();
  await user.configure({ preferredLanguage: "fr" });

  expect([announced, taken, await ask()]).toEqual(["Speak de.", "Speak de.", "Speak fr."]);
  expect(agent.model.rejections).toEqual([]);
});

test("a language chosen long ago stays, and one that the client has replaced does not come back", async () => {
  const instructions = ({ participants }: AgentSession) => `Speak ${participants[0]?.language ?? "English"}.`;
  await using agent = await TestAgent.start({ agent: { instructions, callTools: { set_language: ["de", "en"] } } });
  const user = await agent.client("ana");
  const ask = async () => {
    agent.model.script([reply([text("Ja.")])]);
    await user.answerTo(await user.say("Gut?"));
    return (agent.model.requests.at(-1)?.body["system"] as { text: string }[] | undefined)?.[0]?.text;
  };
  const takeOver = async (preferredLanguage: string) => {
    await agent.leave();
    // Deletes all turns, as the retention job does with old ones.
    await agent.sql`delete from turns`;
    await agent.join();
    await user.configure({ preferredLanguage });
  };
  agent.model.script([reply([toolUse("set_language", { language: "de" })])]);
  await ask();

  await takeOver("en");
  const chosen = await ask();
  await user.configure({ preferredLanguage: "fr" });
  const replaced = await ask();
  await takeOver("fr");

  expect([chosen, replaced, await ask()]).toEqual(["Speak de.", "Speak fr.", "Speak fr."]);
});

test("press_keys sends telephone keys into the room, in order", async () => {
  await using agent = await TestAgent.start({ agent: { callTools: { press_keys: true } } });
  const user = await agent.client("ana");
  const pressed: string[] = [];
  user.room.on(RoomEvent.DtmfReceived, (code: number, digit: string) => pressed.push(`${code}:${digit}`));
  agent.model.script([reply([toolUse("press_keys", { keys: "1*#" })]), reply([text("Done.")])]);

  await user.answerTo(await user.say("Press"));

  expect(pressed).toEqual(["1:1", "10:*", "11:#"]);
});

test("only a telephone caller can be transferred", async () => {
  await using agent = await TestAgent.start({ agent: { callTools: { transfer_call: { sales: "tel:+4930123456" } } } });
  const user = await agent.client("ana");
  agent.model.script([reply([toolUse("transfer_call", { to: "sales" })]), reply([text("I cannot.")])]);

  await user.answerTo(await user.say("To sales"));

  expect(toolResults(agent)).toEqual([
    { content: "This participant is not on the phone, so there is no call to transfer", isError: true },
  ]);
});

test("the model is told about a transfer that LiveKit refuses, and the caller stays", async () => {
  await using agent = await TestAgent.start({ agent: { callTools: { transfer_call: { sales: "tel:+4930123456" } } } });
  await using caller = await PlainClient.join(agent.roomName, "caller", { kind: "sip" });
  agent.model.script([reply([toolUse("transfer_call", { to: "sales" })]), reply([text("It did not work.")])]);

  await caller.write("To sales");

  await expect.poll(() => agent.model.requests.length, { timeout: 10_000 }).toBe(2);
  expect(toolResults(agent)).toEqual([
    { content: "The call could not be transferred; the participant is still here", isError: true },
  ]);
  expect(await identities(agent)).toEqual(["caller"]);
});
