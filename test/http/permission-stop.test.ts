import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { TestAgent } from "../support/agent.ts";
import { EventServer, roomToken } from "../support/servers/event-server.ts";
import { guardedTool } from "../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";

const ROUNDS = 30;
/**
 * How many ms after the approval the stop is sent. A request takes about as long to arrive, so either may arrive first.
 */
const APART_MS = [0, 2, 5, 10, 20];

test("with an approval and a stop at the same moment, the reply is true only if the approval is stored", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  await using server = await EventServer.start({ databaseUrl: agent.databaseUrl });
  const user = await agent.client("user", { features: ["permissions"] });
  const token = await roomToken(agent.roomName, { identity: "user" });
  agent.model.script(({ body }) => {
    const last = (body["messages"] as { content: { type: string }[] }[]).at(-1);
    // Only the last block counts: the message may begin with results that a stopped turn left behind.
    const isOver = last?.content.at(-1)?.type === "tool_result";
    return isOver ? reply([text("Done.")]) : reply([toolUse("write", { path: "notes/a.md" })]);
  });

  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const messageId = await user.say("Write it");
    const { id, sessionId } = await user.next("permission_request", (asked) => !seen.has(asked.id));
    seen.add(id);
    const apartMs = APART_MS[round % APART_MS.length] ?? 0;
    const [answer] = await Promise.all([
      server.postAs(token, `/session/${sessionId}/permissions/${id}`, { response: "approve" }),
      sleep(apartMs).then(() => user.send({ type: "control_stop", body: {} })),
    ]);
    await user.answerTo(messageId);

    const isTrue = answer.status === 200;
    const expected = isTrue ? "approved" : "withdrawn";
    expect(isTrue ? await answer.json() : answer.status).toBe(isTrue ? true : 409);
    const { state } = await user.next("permission_response", ({ permissionId }) => permissionId === id);
    expect(state).toBe(expected);
    expect(await agent.sql`select state from permissions where id = ${id}`).toEqual([{ state: expected }]);
  }

  const [{ approved } = { approved: 0 }] = await agent.sql<{ approved: number }[]>`
    select count(*)::int as approved from permissions where state = 'approved'`;
  expect(ran.length).toBeLessThanOrEqual(approved);
}, 90_000);
