import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { reply, text, toolUse } from "../../src/testing/model-server/step.ts";
import type { Tool } from "../../src/tool/define-tool.ts";
import { TestAgent } from "../support/agent.ts";
import { lastContent } from "../support/model-view.ts";
import { PNG } from "../support/pictures.ts";

const root = join(import.meta.dirname, "../..");

test("the page's tool shows the model a picture, and people a plan", async () => {
  // In the clone, so that `parley` is found.
  const folder = join(root, ".cache", `docs-tools-${process.pid}`);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(folder, { recursive: true });
  const page = await readFile(join(root, "docs/tools.md"), "utf8");
  const [, code = ""] = /```ts\n(\/\/ tools\/site\/floor-plan\.ts\n[^]*?)```/u.exec(page) ?? [];
  const file = join(folder, "floor-plan.ts");
  await writeFile(file, code.replace("plans/", `${folder}/`));
  await writeFile(join(folder, "floor-2.png"), PNG);
  const { default: floorPlan } = (await import(file)) as { default: Tool };
  await using agent = await TestAgent.start({ tools: { floor_plan: floorPlan } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("floor_plan", { floor: 2 })]), reply([text("Two rooms.")])]);

  expect(await user.answerTo(await user.say("How many rooms has the second floor?"))).toBe("Two rooms.");

  const data = Buffer.from(PNG).toString("base64");
  expect(lastContent(agent)).toEqual([
    { type: "text", text: '{"floor":2}' },
    { type: "image", source: { type: "base64", media_type: "image/png", data } },
  ]);
  expect(user.all("tool_use_result")).toMatchObject([
    { result: { floor: 2 }, display: { title: "Floor 2", src: `data:image/png;base64,${data}` } },
  ]);
});
