import { expect, test } from "vitest";
import { TestAgent, type AgentOptions } from "../../support/agent.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";
import { toolResults } from "../../support/model-view.ts";

const FEATURES = { features: ["permissions"] };
const DENY = [{ type: "edit", pattern: "notes/**", action: "deny" as const }];

/** A session in its own room. Its model answers each message by writing a file and then saying so. */
async function startTalk(options: AgentOptions = {}) {
  const { tool, ran } = guardedTool();
  const agent = await TestAgent.start({ tools: { write: tool }, ...options });
  agent.model.script((request) => {
    const last = JSON.stringify((request.body["messages"] as object[]).at(-1));
    return last.includes("tool_result") ? reply([text("Done.")]) : reply([toolUse("write", { path: "notes/a.md" })]);
  });
  return { agent, ran, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() };
}

async function answerNext(user: Participant, response: "always" | "reject"): Promise<void> {
  const seen = user.all("permission_request").length;
  const messageId = await user.say("Write it");
  await user.until(() => user.all("permission_request").length > seen, "a question");
  const { id: permissionId = "" } = user.all("permission_request").at(-1) ?? {};
  await user.send({ type: "permission_response", body: { permissionId, response } });
  await user.answerTo(messageId);
}

test("a grant from one room applies in all rooms, but not to other participants, until it is revoked", async () => {
  await using first = await startTalk();
  const { databaseUrl, roomName } = first.agent;
  await using second = await startTalk({ databaseUrl });
  await using server = await EventServer.start({ databaseUrl });
  await answerNext(await first.agent.client("user", FEATURES), "always");
  const user = await second.agent.client("user", FEATURES);

  await user.answerTo(await user.say("Write it"));
  expect(user.all("permission_request")).toEqual([]);
  expect(second.ran).toEqual(["notes/a.md"]);
  await answerNext(await second.agent.client("other", FEATURES), "reject");
  expect(second.ran).toEqual(["notes/a.md"]);

  const token = await roomToken(roomName, { identity: "user" });
  const [grant] = (await (await server.getAs(token, "/permissions/grants")).json()) as { id: string }[];
  const revokeAs = async (identity: string) => {
    const headers = { authorization: `Bearer ${await roomToken(roomName, { identity })}` };
    return (await fetch(`${server.url}/permissions/grants/${grant?.id}`, { method: "DELETE", headers })).status;
  };
  expect(await revokeAs("other")).toBe(404);
  expect(await revokeAs("user")).toBe(200);
  await answerNext(user, "reject");
  expect(second.ran).toEqual(["notes/a.md"]);
});

test("a rule that denies takes precedence over a grant from another room", async () => {
  await using first = await startTalk();
  const policy = { permission: { rules: DENY, byVoice: false, waitMs: 60_000 } };
  await using second = await startTalk({ databaseUrl: first.agent.databaseUrl, policy });
  await answerNext(await first.agent.client("user", FEATURES), "always");
  const user = await second.agent.client("user", FEATURES);

  await user.answerTo(await user.say("Write it"));
  expect(toolResults(second.agent)).toEqual([
    { content: "Not run: a rule does not allow it (edit: notes/a.md)", isError: true },
  ]);
  expect(user.all("permission_request")).toEqual([]);
  expect(second.ran).toEqual([]);
});
