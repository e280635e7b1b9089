import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import type { TcpProxy } from "../../support/servers/tcp-proxy.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";

// Most of the time is spent waiting, so these tests run concurrently, each with its own room and database.
async function startAgent(ran: string[] = []): Promise<{ agent: TestAgent; database: TcpProxy }> {
  const order = defineTool({ description: "O.", input: z.object({}), run: () => ran.push("order") });
  const agent = await TestAgent.start({ tools: { order }, hasDatabaseProxy: true });
  if (!agent.database) throw new Error("no proxy");
  return { agent, database: agent.database };
}

test.concurrent("a database that does not answer does not delay the words, and everything is stored once it does", async () => {
  const { agent, database } = await startAgent();
  await using _agent = agent;
  const user = await agent.client("user");
  agent.model.script([reply([text("One. Two. Three.")]), reply([text("Four.")])]);
  database.pause();
  const id = await user.say("a");
  expect(await user.answerTo(id)).toBe("One. Two. Three.");
  database.resume();
  expect(await user.answerTo(await user.say("b"))).toBe("Four.");
  await agent.leave();
  expect((await agent.blocks()).map((block) => block.text_content)).toEqual(["One. Two. Three.", "Four."]);
  expect(user.all("error_message")).toEqual([]);
});

test.concurrent("no tool runs while its call cannot be stored; it runs once when it can", async () => {
  const ran: string[] = [];
  const { agent, database } = await startAgent(ran);
  await using _agent = agent;
  const user = await agent.client("user");
  agent.model.script([reply([text("Wait."), toolUse("order")]), reply([text("Done.")])]);
  database.pause();
  const id = await user.say("a");
  await user.next("assistant_sentence", (body) => body.text === "Wait.");
  expect(ran).toEqual([]);
  database.resume();
  expect(await user.answerTo(id)).toBe("Wait. Done.");
  expect(ran).toEqual(["order"]);
});

test.concurrent("connections that break in the middle of a turn lose nothing", async () => {
  const ran: string[] = [];
  const { agent, database } = await startAgent(ran);
  await using _agent = agent;
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("order")]), reply([text("Done.")]), reply([text("Again.")])]);
  const id = await user.say("a");
  await user.next("tool_use_request");
  database.cut();
  expect(await user.answerTo(id)).toBe("Done.");
  database.cut();
  expect(await user.answerTo(await user.say("b"))).toBe("Again.");
  await agent.leave();
  expect((await agent.blocks()).map((block) => block.block_type)).toEqual(["tool_use", "tool_result", "text", "text"]);
  expect(ran).toEqual(["order"]);
});

test.concurrent("a commit whose answer was lost is not written twice", async () => {
  const { agent, database } = await startAgent();
  await using _agent = agent;
  const user = await agent.client("user");
  agent.model.script([reply([text("One.")]), reply([text("Two.")])]);
  database.loseNextAnswer();
  await user.answerTo(await user.say("a"));
  await user.answerTo(await user.say("b"));
  await agent.leave();
  expect((await agent.blocks()).map(({ turn, sequence }) => [turn, sequence])).toEqual([
    [1, 0],
    [2, 0],
  ]);
});

test.concurrent(
  "a database that stays down fails the turn with a clear error, and the next one works",
  { timeout: 40_000 },
  async () => {
    const ran: string[] = [];
    const { agent, database } = await startAgent(ran);
    await using _agent = agent;
    const user = await agent.client("user");
    agent.model.script([reply([text("Wait."), toolUse("order")]), reply([text("Fine.")])]);
    database.isRefusing = true;
    database.cut();
    const id = await user.say("a");
    expect(await user.next("error_message", (body) => body.originatingId === id, 30_000)).toMatchObject({ code: 503 });
    expect(ran).toEqual([]);
    database.isRefusing = false;
    expect(await user.answerTo(await user.say("b"), 20_000)).toBe("Fine.");
  },
);

/** F28. Each entry causes and ends a failure through the database itself, so the errors are real. */
for (const [what, take] of [
  [
    "whose disk is full",
    async ({ sql }: TestAgent) => {
      await sql.unsafe(`
        create function no_space() returns trigger language plpgsql as
          $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
        create trigger no_space before insert on turn_blocks for each row execute function no_space()`);
      return async () => void (await sql`drop trigger no_space on turn_blocks`);
    },
  ],
  [
    "that has no connection left for us",
    async ({ sql }: TestAgent) => {
      const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const holding = sql.begin(async (transaction) => {
        await transaction`lock table turns, turn_blocks, tool_calls in access exclusive mode`;
        locked.resolve();
        await released.promise;
      });
      await locked.promise;
      return async () => {
        released.resolve();
        await holding;
      };
    },
  ],
] as const) {
  test.concurrent(`a database ${what} causes a clear error and no deadlock`, { timeout: 60_000 }, async () => {
    const ran: string[] = [];
    const { agent } = await startAgent(ran);
    await using _agent = agent;
    const user = await agent.client("user");
    agent.model.script([reply([text("Wait."), toolUse("order")]), reply([text("Fine.")])]);
    const giveBack = await take(agent);
    const id = await user.say("a");
    expect(await user.next("error_message", (body) => body.originatingId === id, 30_000)).toMatchObject({ code: 503 });
    expect(ran).toEqual([]);
    await giveBack();
    expect(await user.answerTo(await user.say("b"), 20_000)).toBe("Fine.");
    expect(agent.model.rejections).toEqual([]);
  });
}
