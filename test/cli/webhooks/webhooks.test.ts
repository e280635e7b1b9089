import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pino } from "pino";
import { expect, test } from "vitest";
import { parseWebhooksOptions } from "../../../src/cli/webhooks/options.ts";
import { beginRoom, endRoom } from "../../../src/store/sessions/session-rooms.ts";
import { startDelivery } from "../../../src/worker/webhooks/deliver-webhooks.ts";
import { storedSession } from "../../store/store-fixtures.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { WebhookReceiver } from "../../support/servers/webhook-receiver.ts";

const CLI = fileURLToPath(new URL("../../../src/cli/parley.ts", import.meta.url));

const database = forEachTest(tempDatabase);

async function webhooks(args: readonly string[] = [], databaseUrl = database.url) {
  const env = { ...process.env, DATABASE_URL: databaseUrl, DATABASE_DIRECT_URL: "" };
  const { code, stdout, stderr } = await promisify(execFile)(process.execPath, [CLI, "webhooks", ...args], {
    env,
  }).then(
    (printed) => ({ ...printed, code: 0 }),
    (failed: { code: number; stdout: string; stderr: string }) => failed,
  );
  const lines = stdout.split("\n").filter(Boolean);
  return { code, stderr, lines: lines.map((line) => JSON.parse(line) as { readonly id: string }) };
}

/** Stores an ended session in each of these rooms, with its webhook in the given state. */
async function ended(states: Readonly<Record<string, string>>): Promise<void> {
  for (const [roomSid, state] of Object.entries(states)) {
    const writer = await storedSession(database.sql);
    await beginRoom(writer, { roomSid, agent: "default", afterPosition: 0, hasEndWebhook: true });
    await endRoom(writer, { roomSid, reason: "participants_left", hasEndWebhook: true });
    await database.sql`
      update webhooks set state = ${state}, attempts = 9, last_error = 'status 500', due_at = now() + interval '1 day'
      where room_sid = ${roomSid}
    `;
  }
}

const isoText = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

test("parley webhooks lists the waiting and the dead webhooks, oldest first", async () => {
  await ended({ RM_b: "dead", RM_done: "delivered", RM_a: "waiting" });

  const { code, lines } = await webhooks();

  const common = { attempts: 9, room: "kitchen", lastError: "status 500", endedAt: isoText };
  expect(lines).toEqual([
    { ...common, id: "ended_RM_b", state: "dead", dueAt: null },
    { ...common, id: "ended_RM_a", state: "waiting", dueAt: isoText },
  ]);
  expect(code).toBe(0);
});

test("all dead webhooks are sent again, and no others", async () => {
  await using receiver = await WebhookReceiver.start();
  await ended({ RM_one: "dead", RM_done: "delivered", RM_late: "waiting", RM_two: "dead" });

  const { code, lines } = await webhooks(["--retry-dead"]);

  expect(code).toBe(0);
  expect(lines.map(({ id }) => id).toSorted()).toEqual(["ended_RM_one", "ended_RM_two"]);
  const { url, secret } = receiver;
  const delivery = startDelivery({ sql: database.sql, logger: pino({ enabled: false }), receiver: { url, secret } });
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
  await delivery.close();
  expect((await webhooks()).lines).toMatchObject([{ id: "ended_RM_late", attempts: 9 }]);
});

test("a webhook is sent again by its id, even if it waits or was delivered; an unknown id is reported", async () => {
  await ended({ RM_done: "delivered", RM_late: "waiting", RM_dead: "dead" });

  const retried = await webhooks(["--retry", "ended_RM_done", "--retry", "ended_RM_late", "--retry", "ended_RM_none"]);

  expect(retried.lines.map(({ id }) => id).toSorted()).toEqual(["ended_RM_done", "ended_RM_late"]);
  expect([retried.code, retried.stderr]).toEqual([1, "parley webhooks: No webhook has the id ended_RM_none\n"]);
  expect((await webhooks()).lines).toMatchObject([
    { id: "ended_RM_done", state: "waiting", attempts: 0 },
    { id: "ended_RM_late", state: "waiting", attempts: 0 },
    { id: "ended_RM_dead", state: "dead" },
  ]);
});

test("an unreachable database is reported in one line", async () => {
  const { code, stderr } = await webhooks([], "postgres://parley@127.0.0.1:1/parley");

  const place = "127.0.0.1:1/parley";
  expect([code, stderr]).toEqual([1, `parley webhooks: The database is unavailable (ECONNREFUSED): ${place}\n`]);
});

test.each([
  [[], {}, "--database: expected the address"],
  [["--database", "http://127.0.0.1"], {}, "--database: expected a URL such as postgres://"],
  [["--retry-dead", "--retry", "a"], { DATABASE_URL: "postgres://a" }, "--retry-dead: cannot be combined with --retry"],
  [["--dead"], {}, "--dead"],
])("%j with %j is refused: %s", (args, environment, why) => {
  expect(() => parseWebhooksOptions(args, environment)).toThrow(why);
});

test("the database's direct address takes precedence over a pooler's, and PGPASSWORD is its password", () => {
  const environment = {
    DATABASE_URL: "postgres://me@pool/p",
    DATABASE_DIRECT_URL: "postgres://me@db/p",
    PGPASSWORD: "x/y",
  };

  expect(parseWebhooksOptions([], environment)).toEqual({ databaseUrl: "postgres://me:x%2Fy@db/p", retry: undefined });
});
