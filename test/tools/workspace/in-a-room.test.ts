import { access, readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { type ServerTool, toServerTool } from "../../../src/tool/server-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import bash from "../../../tools/workspace/bash.ts";
import read from "../../../tools/workspace/read.ts";
import write from "../../../tools/workspace/write.ts";
import { TempWorkspace } from "./temp-workspace.ts";

const features = ["tool_call_state", "permissions"];

const toolsOf = ({ settings }: TempWorkspace): ReadonlyMap<string, ServerTool> =>
  new Map(Object.entries({ bash, read, write }).map(([name, tool]) => [name, toServerTool(name, tool, settings)]));

test("a command is asked about, shows its lines while it runs, and ends with a stop", async () => {
  await using workspace = await TempWorkspace.create();
  await using agent = await TestAgent.start({ liveTools: toolsOf(workspace) });
  const user = await agent.client("user", { features });
  const command = "echo $$ > pid; echo started; sleep 600";
  agent.model.script([reply([toolUse("bash", { command })]), reply([text("Done.")])]);
  await user.say("Run it");

  const { id: permissionId, ...asked } = await user.next("permission_request");
  expect(asked).toMatchObject({ type: "bash", pattern: [command], title: `Run ${command}` });
  expect(user.all("tool_call_state")).toMatchObject([{ status: "pending" }]);
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  await user.next("tool_call_state", ({ logs }) => logs.includes("started"));
  const pid = (await readFile(workspace.at("pid"), "utf8")).trim();
  await user.send({ type: "control_stop", body: {} });

  expect(await user.next("tool_call_state", ({ status }) => status === "cancelled")).toMatchObject({
    logs: ["started"],
  });
  await vi.waitFor(() => expect(access(`/proc/${pid}`)).rejects.toThrow("ENOENT"), 5_000);
});

test("a write is asked about with its normalized path, and a denied one does not happen", async () => {
  await using workspace = await TempWorkspace.create();
  const rules = [
    { type: "edit", pattern: "notes/**", action: "allow" },
    { type: "edit", pattern: "secrets/**", action: "deny" },
  ] as const;
  const permission = { rules, byVoice: false, waitMs: 60_000 };
  await using agent = await TestAgent.start({ liveTools: toolsOf(workspace), policy: { permission } });
  const user = await agent.client("user", { features });
  const paths = ["notes/a.md", "notes/../secrets/b.md"];
  const uses = paths.map((path, index) => toolUse("write", { path, content: "x" }, `toolu_${index}`));
  agent.model.script([reply(uses), reply([text("Done.")])]);

  await user.answerTo(await user.say("Write them"));

  expect(user.all("permission_request")).toEqual([]);
  expect(await readFile(workspace.at("notes/a.md"), "utf8")).toBe("x");
  await expect(access(workspace.at("secrets"))).rejects.toThrow("ENOENT");
  expect(await agent.calls()).toMatchObject([{ state: "success" }, { error_code: "permission_denied" }]);
});

test("a path that leads out of the workspace is an execution_error, and causes no question", async () => {
  await using workspace = await TempWorkspace.create();
  await using agent = await TestAgent.start({ liveTools: toolsOf(workspace) });
  const user = await agent.client("user", { features });
  const uses = ["../outside/secret.txt", "/etc/passwd"].map((path, index) =>
    toolUse("read", { path }, `toolu_${index}`),
  );
  agent.model.script([reply(uses), reply([text("Neither.")])]);

  await user.answerTo(await user.say("Read them"));

  expect(user.all("permission_request")).toEqual([]);
  expect(await agent.calls()).toMatchObject([
    { state: "error", error_code: "execution_error" },
    { state: "error", error_code: "execution_error" },
  ]);
});
