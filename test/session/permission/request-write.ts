import { onTestFinished } from "vitest";
import { type AgentOptions, TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";

export const FEATURES = { features: ["permissions"] };
export const WRITE = reply([toolUse("write", { path: "notes/a.md" })]);

interface Options extends AgentOptions {
  readonly guarded?: Parameters<typeof guardedTool>[0];
}

/**
 * Makes the model request to write notes/a.md, and waits until the user is asked for permission. After that, the model
 * says each of the texts in `then`. The agent is closed when the test ends.
 */
export async function requestWrite(then: readonly string[], { guarded, ...options }: Options = {}) {
  const { tool, ran } = guardedTool(guarded);
  const agent = await TestAgent.start({ tools: { write: tool }, ...options });
  onTestFinished(() => agent[Symbol.asyncDispose]());
  const user = await agent.client("user", FEATURES);
  agent.model.script([WRITE, ...then.map((words) => reply([text(words)]))]);
  const messageId = await user.say("Write it");
  const request = await user.next("permission_request");
  return { agent, user, ran, messageId, request, permissionId: request.id };
}
