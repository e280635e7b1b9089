import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { forFile } from "../support/lifetimes.ts";
import type { Participant } from "../support/participant.ts";
import { startTempPostgres } from "../tools/data/temp-postgres.ts";
import { WorkerParts } from "../worker/support/worker-parts.ts";
import { countLines } from "./count-lines.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const parts = forFile(() => WorkerParts.start());
let office: Awaited<ReturnType<typeof startTempPostgres>>;
let clerk: Participant;

beforeAll(async () => {
  office = await startTempPostgres();
  await office.admin.unsafe(await readFile("examples/back-office/schema.sql", "utf8"));
  const env = {
    PARLEY_CONFIG: "examples/back-office/parley.config.ts",
    OFFICE_DATABASE_URL: office.urlAs("office_reader", "reader"),
  };
  await parts.run({ args: ["--worker-only"], env });
  clerk = await parts.join(`room-${createId()}`, "clerk");
  await clerk.until(() => clerk.all("configuration").length > 0, "the worker's configuration", 20_000);
  // From now on, the client is notified of new tools.
  await clerk.configure({ features: ["permissions"] });
  const tools = () => clerk.all("configuration").flatMap((body) => (body.tools ?? []).map(({ name }) => name));
  await clerk.until(() => tools().includes("stock_reserve"), "the stock server's tools");
});
afterAll(() => office.stop());

/** The tool results that the model has received in this turn. */
function results(): unknown[] {
  const messages = parts.model.requests.at(-1)?.body["messages"] as { content: { content?: string }[] }[];
  return (messages.at(-1)?.content ?? []).map(({ content }) => content);
}

test("all files of the back office agent together are one page long", async () => {
  expect(await countLines("examples/back-office")).toBeLessThan(120);
});

test("it answers from the database and from the stock system", async () => {
  const sql = "select sku, count from shop.orders join shop.customers c on c.id = customer_id where c.name = $1";
  parts.model.script([
    reply([toolUse("database_query", { sql, params: ["Ada Weber"] }), toolUse("stock_check", { sku: "lamp" })]),
    reply([text("Two lamps, and there are twelve.")]),
  ]);

  expect(await clerk.answerTo(await clerk.say("What has Ada ordered?"))).toContain("Two lamps");

  expect(results()).toEqual([expect.stringContaining('"rows":[["lamp",2]]'), "12 in stock"]);
  expect(parts.model.rejections).toEqual([]);
});

test("it reserves only after a yes, and changes nothing in the database", async () => {
  parts.model.script([
    reply([
      toolUse("stock_reserve", { sku: "lamp", count: 2, order: 71 }),
      toolUse("database_query", { sql: "update shop.orders set state = 'sent' returning id" }),
    ]),
    reply([text("Reserved.")]),
  ]);

  const messageId = await clerk.say("Reserve them, and mark the order as sent");
  const { id: permissionId, title } = await clerk.next("permission_request");
  await clerk.send({ type: "permission_response", body: { permissionId, response: "approve" } });
  await clerk.answerTo(messageId);

  expect(title).toContain("stock_reserve");
  expect(results()).toEqual([expect.stringContaining("2 reserved for order 71, 10 left"), expect.any(String)]);
  expect(await office.admin`select state from shop.orders where id = 71`).toEqual([{ state: "open" }]);
});
