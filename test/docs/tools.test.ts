import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { scripted } from "../../src/testing/model/scripted.ts";
import { startTalk } from "../../src/testing/start-talk.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import type { Tool } from "../../src/tool/define-tool.ts";
import { registered } from "../../src/worker/hooks/worker-hooks.ts";
import { TestAgent } from "../support/agent.ts";
import { lastContent } from "../support/model-view.ts";
import { emptyDatabase } from "../support/servers/temp-database.ts";
import { PNG } from "../support/pictures.ts";

const root = join(import.meta.dirname, "../..");

/** A folder inside the repository, so that imports of the package `parley` resolve. */
const folder = join(root, ".cache", `docs-tools-${process.pid}`);

beforeAll(() => mkdir(folder, { recursive: true }));
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => {
  registered.clear();
  vi.unstubAllEnvs();
});

/** The page's tool that starts with its file's name. */
async function toolOf(name: string): Promise<Tool> {
  const page = await readFile(join(root, "docs/tools.md"), "utf8");
  const [, code = ""] = new RegExp(`\`\`\`ts\\n(// tools/${name}\\.ts\\n[^]*?)\`\`\``, "u").exec(page) ?? [];
  const file = join(folder, `${basename(name)}.ts`);
  await writeFile(file, code.replace("plans/", `${folder}/`));
  return ((await import(file)) as { default: Tool }).default;
}

test("the page's tool asks a person, field by field, for what it needs", async () => {
  await using agent = await TestAgent.start({ tools: { book_table: await toolOf("tables/book-table") } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("book_table", { day: "2026-12-24" })]), reply([text("It is booked.")])]);
  const messageId = await user.say("A table for Christmas Eve");
  for (const [question, answer] of [
    ["A table on 2026-12-24. How many people?", "4"],
    ["Where? inside or garden?", "inside"],
    ["What shall be on it? You can name several: flowers and cake?", "Cake and flowers"],
    ["Anything else? You can say skip.", "skip"],
  ] as const) {
    await user.next("assistant_sentence", ({ text: said }) => said.endsWith(question));
    await user.say(answer);
  }

  expect(await user.answerTo(messageId)).toContain("It is booked.");

  const content = { guests: 4, place: "inside", extras: ["flowers", "cake"] };
  const [first] = await agent.calls();
  expect(first).toMatchObject({ state: "success", result: { booked: true, day: "2026-12-24", ...content } });
});

test("the page's tool shows the model a picture, and people a plan", async () => {
  await writeFile(join(folder, "floor-2.png"), PNG);
  const floorPlan = await toolOf("site/floor-plan");
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

test("the page's tool looks up an order with a pool that is open as long as the session", async () => {
  await using database = await emptyDatabase();
  const { sql } = database;
  await sql`create table orders (id int, status text)`;
  await sql`insert into orders values (7, 'shipped')`;
  vi.stubEnv("SHOP_DATABASE_URL", database.url);
  const model = scripted([{ use: { order_status: { order: 7 } } }, "It is on its way."]);
  const tools = { order_status: await toolOf("orders/order-status") };
  const connections = async () =>
    (await sql`select from pg_stat_activity where datname = current_database() and application_name = 'postgres.js'`)
      .count;

  const talk = await startTalk({ config: { instructions: "Help." }, tools, model });
  const during = await connections();
  const { calls } = await talk.say("Where is order 7?");
  await talk[Symbol.asyncDispose]();

  expect(calls).toMatchObject([{ name: "order_status", result: { status: "shipped" } }]);
  expect(during).toBe(1);
  await vi.waitUntil(async () => (await connections()) === 0);
});
