import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { createToken } from "../support/participant.ts";
import { startPgBouncer } from "../support/servers/pgbouncer.ts";
import { emptyDatabase } from "../support/servers/temp-database.ts";
import { runMain } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

test.each([
  { way: "alone", hasDirectUrl: false },
  { way: "and DATABASE_DIRECT_URL past it", hasDirectUrl: true },
])(
  "through PgBouncer in transaction mode $way, a permission answered over HTTP lets the call run",
  async ({ hasDirectUrl }) => {
    await using parts = await WorkerParts.start();
    await using pooler = await startPgBouncer(parts.database.url);
    const config = join(parts.folder, "parley.config.ts");
    const permission = { rules: [{ type: "tool", pattern: "calculator", action: "ask" }] };
    await writeFile(config, `export default ${JSON.stringify({ instructions: "Help.", permission })};\n`);
    const direct = hasDirectUrl ? { DATABASE_DIRECT_URL: parts.database.url } : {};
    const worker = await parts.run({ env: { DATABASE_URL: pooler.url, PARLEY_CONFIG: config, ...direct } });
    const room = `room-${createId()}`;
    const user = await parts.join(room, "user");
    await user.until(() => user.all("configuration").length === 1, "the worker", 20_000);
    await user.configure({ features: ["permissions"] });
    parts.model.script([reply([toolUse("calculator", { expression: "2 * 3" })]), reply([text("It is 6.")])]);
    const messageId = await user.say("What is 2 * 3?");
    const { id } = await user.next("permission_request");

    // Sends the answer to the worker's main process, which does not run the session.
    const { httpUrl } = await worker.ready;
    const token = await createToken(room, "user", { server: parts.livekit });
    const answer = await fetch(`${httpUrl}/session/${room}/permissions/${id}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ response: "approve" }),
    });

    expect(answer.status).toBe(200);
    expect(await user.answerTo(messageId)).toBe("It is 6.");
    expect(parts.model.rejections).toEqual([]);
    worker.kill("SIGTERM");
    expect((await worker.ended).stderr.includes("polling every second")).toBe(!hasDirectUrl);
  },
  90_000,
);

test("two workers that start at the same time migrate once through PgBouncer", async () => {
  await using database = await emptyDatabase();
  await using pooler = await startPgBouncer(database.url);

  const starts = [1, 2].map(() => runMain({ DATABASE_URL: pooler.url }, "--worker-only", "--migrate").ended);

  expect((await Promise.all(starts)).map(({ code }) => code)).toEqual([0, 0]);
  const [count] = await database.sql`select count(*)::int as runs from parley_migrations where version = 1`;
  expect(count).toEqual({ runs: 1 });
}, 60_000);
