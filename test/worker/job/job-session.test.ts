import { Room } from "@livekit/rtc-node";
import { pino } from "pino";
import { expect, inject, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { createModel } from "../../../src/llm/stream-message.ts";
import type { SessionEvent } from "../../../src/session/events/session-event.ts";
import { claimSession, releaseOwner } from "../../../src/store/sessions/leases.ts";
import { insertTurn } from "../../../src/store/turns/write-turns.ts";
import { openJobSession } from "../../../src/worker/job/job-session.ts";
import { serveStandardAgent } from "../../../src/worker/job/serve-agents.ts";
import { newTurn, sessionClaim, writerOf } from "../../store/store-fixtures.ts";
import { jobConfig } from "../../support/job-config.ts";
import { forFile } from "../../support/lifetimes.ts";
import { openPermissionEvents } from "../../support/permission-events.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);

/** Begins a job whose room cannot be joined, while another worker has the session for a moment longer. */
async function failToJoin({ hasTurn }: { readonly hasTurn: boolean }) {
  const { sql } = database;
  const name = `room-${createId()}`;
  const claim = sessionClaim({ conversationId: name, room: name, owner: "dead" });
  await claimSession(sql, claim);
  if (hasTurn) await insertTurn(writerOf(sql, claim.sessionId), newTurn());
  const settings = { name: "claude-test", maxTokens: 1_024, serverTools: [] };
  const client = createModel({ apiKey: "test", baseUrl: "http://127.0.0.1:9", idleTimeoutMs: 1_000, retryBudgetMs: 0 });
  const permissionEvents = openPermissionEvents(undefined, sql);
  const events: SessionEvent[] = [];
  const job = {
    name,
    jobId: "job",
    room: new Room(),
    connect: () => Promise.reject(new Error("The room cannot be joined")),
    leave: () => {},
    url: inject("livekitUrl"),
    apiKey: inject("livekitApiKey"),
    apiSecret: inject("livekitApiSecret"),
  };
  const opening = openJobSession(job, {
    config: jobConfig({ model: settings }),
    logger: pino({ level: "silent" }),
    sql,
    permissionEvents,
    serverTools: new Map(),
    liveTools: { prefixes: [], onChanged: () => () => {} },
    agents: new Map(),
    standardAgent: serveStandardAgent({ instructions: "Be brief." }, { client, model: settings }),
    watchers: [(event) => events.push(event)],
  });
  await expect(opening).rejects.toThrow("cannot be joined");
  await releaseOwner(sql, { owner: "dead" });
  const session = async () => {
    const [row] = await sql<{ epoch: number; owner: string | null }[]>`
      select epoch::int, lease_owner as owner from sessions where id = ${claim.sessionId}
    `;
    return row;
  };
  return { session, events, [Symbol.asyncDispose]: () => permissionEvents.close() };
}

test("a job that cannot join its room gives the session back that it gets later", async () => {
  await using failed = await failToJoin({ hasTurn: false });

  await expect.poll(failed.session, { timeout: 10_000 }).toEqual({ epoch: 2, owner: null });
});

test("it leaves the turn that an earlier worker has left to the next one", async () => {
  await using failed = await failToJoin({ hasTurn: true });

  await expect.poll(failed.session, { timeout: 10_000 }).toEqual({ epoch: 3, owner: null });
  const ends = () => failed.events.flatMap((event) => (event.type === "turn" ? event.event.type : []));
  await expect.poll(ends, { timeout: 10_000 }).toContain("turn_complete");
  const [turn] = await database.sql`select state from turns where participant_identity = 'ann'`;
  expect(turn).toEqual({ state: "running" });
});
