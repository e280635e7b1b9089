import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";

async function note(user: Participant, messageId: string, content: string): Promise<string> {
  const id = createId();
  await user.send({ type: "commentary", body: { id, messageId, content, commentaryType: "praise" } });
  return id;
}

const stored = (agent: TestAgent) => agent.sql`
  select message_id, participant_identity, content, commentary_type from commentaries order by id`;

test("a commentary is stored with its message and its author", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("One.")])]);
  const messageId = await user.say("a");
  await user.answerTo(messageId);

  await note(user, messageId, "Nice.");

  const row = {
    message_id: messageId,
    participant_identity: "user",
    content: "Nice.",
    commentary_type: "praise",
  };
  await expect.poll(() => stored(agent)).toEqual([row]);
});

test.each([
  ["of a message that nobody said", 201, (messageId: string): [string, string] => [`${messageId}x`, "Nice."]],
  ["of more than 16 KiB", 413, (messageId: string): [string, string] => [messageId, "x".repeat(16 * 1024 + 1)]],
])("a commentary %s is refused with %i and its id", async (_, code, toNote) => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("One.")])]);
  const messageId = await user.say("a");
  await user.answerTo(messageId);

  const id = await note(user, ...toNote(messageId));

  expect(await user.next("error_message")).toMatchObject({ code, originatingId: id });
  expect(await stored(agent)).toEqual([]);
});

test("a turn accepts 20 commentaries, and the author of the next one learns that it is not kept", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("One.")])]);
  const messageId = await user.say("a");
  await user.answerTo(messageId);

  const ids: string[] = [];
  for (let count = 1; count <= 21; count++) {
    ids.push(await note(user, messageId, `note ${count}`));
    await expect.poll(async () => (await stored(agent)).length).toBe(Math.min(count, 20));
  }

  expect(await user.next("error_message")).toMatchObject({ code: 202, originatingId: ids.at(-1) });
});

test("a call waits only for its own record, however many commentaries participants send meanwhile", async () => {
  const ping = defineTool({ description: "P.", input: { type: "object" }, run: () => "pong" });
  await using agent = await TestAgent.start({ tools: { ping } });
  const user = await agent.client("user");
  const other = await agent.client("other");
  agent.model.script([reply([text("One.")])]);
  const messageId = await user.say("a");
  await user.answerTo(messageId);
  // Every write to commentaries has to wait for this lock.
  await agent.sql.begin(async (lock) => {
    await lock`lock table commentaries in access exclusive mode`;
    for (let count = 0; count < 30; count++) await note(other, messageId, "x".repeat(10_000));
    await expect.poll(() => blocked(agent)).toBe(1);

    agent.model.script([reply([toolUse("ping")]), reply([text("Two.")])]);

    expect(await user.answerTo(await user.say("b"))).toBe("Two.");
    expect(await blocked(agent)).toBe(1);
  });
});

async function blocked(agent: TestAgent): Promise<number> {
  const rows = await agent.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.length;
}
