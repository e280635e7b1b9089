import { expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../src/lib/json.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";

const FEATURES = ["permissions", "tool_call_state"];
const scan = {
  name: "scan",
  description: "S.",
  inputSchema: { type: "object", properties: { page: { type: "number" } }, required: ["page"] },
};

/** What a client was shown about calls, in order. */
function callsShownTo(client: Participant): JsonObject[] {
  return client.received.flatMap(({ message }): JsonObject[] => {
    if (message.type === "tool_use_request") {
      const { toolName, parameters, execution } = message.body;
      return [{ toolName, parameters, execution }];
    }
    if (message.type !== "tool_use_result") return [];
    const { success, errorCode = null } = message.body;
    return [{ success, errorCode }];
  });
}

type Answer = "reject" | undefined;
const rows: readonly [string, string, JsonObject, string, Answer?][] = [
  ["of a tool that nobody has", "nothing", {}, "unknown_tool"],
  ["of a declared tool that no device has", "read_file", {}, "unknown_tool"],
  ["with arguments that do not fit a tool of the server's", "write", { path: 7 }, "invalid_parameters"],
  ["with arguments that do not fit a client's tool", "scan", { page: "one" }, "invalid_parameters"],
  ["that a rule denies", "write", { path: "secret" }, "permission_denied"],
  ["that the participant rejects", "write", { path: "a.md" }, "permission_denied", "reject"],
  ["that nobody allows in time", "write", { path: "a.md" }, "permission_denied"],
];

test.each(rows)("a call %s is shown to everyone as a request and a result, and counts as one call", async (...row) => {
  const [, name, input, code, response] = row;
  const { tool: write, ran } = guardedTool();
  const readFile = defineTool({ description: "R.", input: z.object({}), execution: "client" });
  const rules = [{ type: "edit", pattern: "secret", action: "deny" as const }];
  const waitMs = response ? 60_000 : 300;
  const policy = { permission: { rules, byVoice: false, waitMs } };
  await using agent = await TestAgent.start({ tools: { write, read_file: readFile }, policy });
  const user = await agent.client("user", { features: FEATURES, tools: [scan] });
  const watcher = await agent.client("watcher", { features: FEATURES, tools: [scan] });
  agent.model.script([reply([toolUse(name, input)]), reply([text("Done.")])]);
  const messageId = await user.say("Go");
  if (response) {
    const { id: permissionId } = await user.next("permission_request");
    await user.send({ type: "permission_response", body: { permissionId, response } });
  }
  await user.answerTo(messageId);
  await watcher.answerTo(messageId);

  const both = [
    { toolName: name, parameters: input, execution: "server" },
    { success: false, errorCode: code },
  ];
  expect([callsShownTo(user), callsShownTo(watcher)]).toEqual([both, both]);
  const [request] = user.all("tool_use_request");
  expect(user.all("tool_use_result")).toMatchObject([{ id: request?.id }]);
  expect(ran).toEqual([]);
  const [call, ...others] = await agent.calls();
  expect([call, others]).toMatchObject([{ name, state: "error", error_code: code, execution_resolved: null }, []]);
  const states = watcher.all("tool_call_state").map(({ id, status }) => `${id} ${status}`);
  expect([...new Set(states)]).toEqual([`${request?.id} pending`, `${request?.id} error`]);
  expect(agent.model.rejections).toEqual([]);
});

test("a name and arguments that no message can contain are shown as far as possible", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  const long = { text: "x".repeat(1_100_000) };
  const refused = [toolUse("../x y".padEnd(70, "z")), toolUse("nothing", long)];
  agent.model.script(refused.flatMap((use) => [reply([use]), reply([text("Done.")])]));
  // One call per turn, because the calls in one step are shown in the order in which they are stored.
  for (const _ of refused) await user.answerTo(await user.say("Go"));

  expect(callsShownTo(user)).toEqual([
    { toolName: "___x_y".padEnd(64, "z"), parameters: {}, execution: "server" },
    { success: false, errorCode: "unknown_tool" },
    { toolName: "nothing", parameters: {}, execution: "server" },
    { success: false, errorCode: "unknown_tool" },
  ]);
  expect(agent.model.rejections).toEqual([]);
});
