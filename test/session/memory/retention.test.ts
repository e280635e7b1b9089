import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { createRecallStore } from "../../../src/session/recall/recall-store.ts";
import { recallTool } from "../../../src/session/recall/recall-tool.ts";
import { deleteOldTurns } from "../../../src/store/removal/delete-old-turns.ts";
import type { RecordedRequest } from "../../../src/model-server/model-server.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { toServerTool, type ServerTool } from "../../../src/tool/server-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { toolResults } from "../../support/model-view.ts";

const look = defineTool({ description: "L.", input: z.object({}), readOnly: true, run: () => "clear sky" });

test("a session continues, here and with the next worker, when turns in its context have been deleted", async () => {
  const liveTools = new Map<string, ServerTool>([["look", toServerTool("look", look, undefined)]]);
  await using agent = await TestAgent.start({ liveTools });
  liveTools.set("recall", recallTool(createRecallStore(agent.sql), { isAlwaysOffered: true }));
  const user = await agent.client("user");
  const ask = async (words: string) => user.answerTo(await user.say(words));
  agent.model.script([reply([toolUse("look", {}, "toolu_old")]), reply([text("Clear.")]), reply([text("Two.")])]);
  await ask("One");
  await ask("Two");
  await expect.poll(() => agent.sql`select 1 from turns where state = 'completed'`).toHaveLength(2);
  await agent.sql`update turns set created_at = now() - interval '40 days'`;

  expect(await deleteOldTurns(agent.sql, { days: 30, limit: 10 })).toBe(1);
  agent.model.script([
    reply([toolUse("recall", { id: "toolu_old" })]),
    reply([text("Three.")]),
    reply([text("Four.")]),
  ]);
  expect(await ask("Three")).toBe("Three.");
  expect(toolResults(agent)).toEqual([
    { content: "id: this conversation has no call or tool use with this id, or it has no result yet", isError: true },
  ]);
  await agent.leave();
  await agent.sql`update turns set created_at = now() - interval '40 days' where position = 2`;
  await deleteOldTurns(agent.sql, { days: 30, limit: 10 });
  await agent.join();

  expect(await ask("Four")).toBe("Four.");
  expect(JSON.stringify(agent.model.requests.at(-1)?.body["messages"])).not.toContain("One");
  await expect
    .poll(() => agent.sql`select position, state from turns order by 1`)
    .toEqual([3, 4].map((position) => ({ position, state: "completed" })));
  expect(agent.model.rejections).toEqual([]);
});

test("notes on deleted turns are no longer shown, and are written again from the remaining turns", async () => {
  const policy = { context: { budgetTokens: 2_000, hardTokens: 8_000, instructionBytes: 0 } };
  await using agent = await TestAgent.start({ policy, summaryModel: "small" });
  const isNotes = ({ body }: RecordedRequest) => body["model"] === "small";
  let notes = "They told a secret.";
  const words = "It has been a long day, and there is much to tell of it. ".repeat(4);
  agent.model.script((request) => reply([text(isNotes(request) ? `<notes>${notes}</notes>` : `Well. ${words}`)]));
  const user = await agent.client("user");
  const ask = async (said: string) => {
    await user.answerTo(await user.say(said));
    // Leaves time for the notes, which are written in the background.
    await sleep(20);
  };
  const shown = (requests = agent.model.requests) =>
    JSON.stringify(requests.findLast((request) => !isNotes(request))?.body["messages"]);
  for (let turn = 1; turn <= 30; turn++) await ask(`Turn ${turn}. ${words}`);
  expect(shown()).toContain("They told a secret.");
  await agent.leave();
  await agent.sql`update turns set created_at = now() - interval '40 days' where position <= 10`;

  await deleteOldTurns(agent.sql, { days: 30, limit: 100 });
  await agent.join();
  notes = "They told of their day.";
  const before = agent.model.requests.length;
  await ask("Are you still there?");

  expect(shown()).not.toContain("secret");
  const written = () => agent.model.requests.slice(before).find(isNotes);
  await expect.poll(written).toBeDefined();
  const prompt = JSON.stringify(written()?.body["messages"]);
  const positions = [...prompt.matchAll(/Turn (\d+)\\n/gu)].map(([, position]) => Number(position));
  const [, leftOut = 0] = /\[Turns 1 to (\d+) /u.exec(shown()) ?? [];
  expect(prompt).not.toContain("secret");
  expect(positions[0]).toBeGreaterThan(10);
  expect(positions[0]).toBeLessThan(Number(leftOut));
  for (let turn = 1; turn <= 20 && !shown().includes("told of their day"); turn++) await ask(`And? ${words}`);
  expect(shown()).toMatch(new RegExp(`\\[Notes on turns ${positions[0]} to \\d+;.*They told of their day\\.`));
});
