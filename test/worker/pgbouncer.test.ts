import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text, toolUse } from "../support/model-server/step.ts";
import { createToken } from "../support/participant.ts";
import { startPgBouncer } from "../support/servers/pgbouncer.ts";
import { type TempDatabase, emptyDatabase } from "../support/servers/temp-database.ts";
import { WorkerParts } from "./support/worker-parts.ts";

/** Two workers that start at the same moment, with an empty database behind a pooler in transaction mode. */
async function startWorkers(cleanup: AsyncDisposableStack, env: (database: TempDatabase) => NodeJS.ProcessEnv) {
  const parts = cleanup.use(await WorkerParts.start());
  const database = await emptyDatabase();
  cleanup.defer(database.drop);
  const pooler = cleanup.use(await startPgBouncer(database.url));
  const config = join(parts.folder, "parley.config.ts");
  const permission = { rules: [{ type: "tool", pattern: "calculator", action: "ask" }] };
  await writeFile(config, `export default ${JSON.stringify({ instructions: "Help.", permission })};\n`);
  const run = (dataDir: string) =>
    parts.run({
      env: { DATABASE_URL: pooler.url, PARLEY_CONFIG: config, PARLEY_DATA_DIR: dataDir, ...env(database) },
    });
  const workers = await Promise.all(["one", "two"].map((name) => run(join(parts.folder, name))));
  return { parts, database, workers };
}

const POLLED = "events are polled every second";

test.each([
  { way: "alone", env: () => ({}), isPolled: true },
  {
    way: "and DATABASE_DIRECT_URL past it",
    env: ({ url }: TempDatabase) => ({ DATABASE_DIRECT_URL: url }),
    isPolled: false,
  },
])(
  "through PgBouncer in transaction mode $way, a permission that is answered over HTTP lets the call run",
  async ({ env, isPolled }) => {
    await using cleanup = new AsyncDisposableStack();
    const { parts, workers } = await startWorkers(cleanup, env);
    const room = `room-${createId()}`;
    const user = await parts.join(room, "user");
    await user.until(() => user.all("configuration").length === 1, "a worker", 20_000);
    await user.configure({ features: ["permissions"] });
    parts.model.script([reply([toolUse("calculator", { expression: "2 * 3" })]), reply([text("It is 6.")])]);
    const messageId = await user.say("What is 2 * 3?");
    const { id } = await user.next("permission_request");

    // By any worker, also one that does not have the session.
    const { httpUrl } = (await workers[1]?.ready) ?? {};
    const token = await createToken(room, "user", { server: parts.livekit });
    const answer = await fetch(`${httpUrl}/session/${room}/permissions/${id}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ response: "approve" }),
    });

    expect(answer.status).toBe(200);
    expect(await user.answerTo(messageId)).toBe("It is 6.");
    expect(parts.model.rejections).toEqual([]);
    for (const worker of workers) worker.kill("SIGTERM");
    const outputs = await Promise.all(workers.map(({ ended }) => ended));
    expect(outputs.map(({ stderr }) => stderr.includes(POLLED))).toEqual([isPolled, isPolled]);
  },
  90_000,
);

test("two workers that start at the same moment migrate once through PgBouncer", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { database } = await startWorkers(cleanup, () => ({}));

  const [count] = await database.sql`select count(*)::int as runs from parley_migrations where version = 1`;
  expect(count).toEqual({ runs: 1 });
}, 60_000);
