import { Room } from "@livekit/rtc-node";
import { pino } from "pino";
import { expect, inject, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { createModel } from "../../../src/llm/stream-message.ts";
import type { SessionEvent } from "../../../src/session/events/session-event.ts";
import { claimSession, releaseOwner } from "../../../src/store/sessions/leases.ts";
import { insertTurn } from "../../../src/store/turns/write-turns.ts";
import type { JobRoom } from "../../../src/worker/job/job-session.ts";
import { openJobSession, type SessionServices } from "../../../src/worker/job/open-job-session.ts";
import { serveDefaultAgent } from "../../../src/worker/job/serve-agents.ts";
import { newTurn, sessionClaim, writerOf } from "../../store/store-fixtures.ts";
import { jobConfig } from "../../support/job-config.ts";
import { forFile } from "../../support/lifetimes.ts";
import { openPermissionEvents } from "../../support/permission-events.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);

/** Starts a job for a room whose session another worker owns. */
async function beginJob(
  name: string,
  job: Pick<JobRoom, "connect" | "leave">,
  services: Partial<SessionServices> = {},
) {
  const { sql } = database;
  const settings = { name: "claude-test", maxTokens: 1_024, serverTools: [] };
  const client = createModel({ apiKey: "test", baseUrl: "http://127.0.0.1:9", idleTimeoutMs: 1_000, retryBudgetMs: 0 });
  const permissionEvents = openPermissionEvents(undefined, sql);
  const server = {
    url: inject("livekitUrl"),
    apiKey: inject("livekitApiKey"),
    apiSecret: inject("livekitApiSecret"),
  };
  const opening = openJobSession(
    { name, jobId: "job", room: new Room(), ...server, ...job },
    {
      config: jobConfig({ model: settings }),
      logger: pino({ level: "silent" }),
      sql,
      permissionEvents,
      serverTools: new Map(),
      liveTools: { prefixes: [], onChanged: () => () => {} },
      agents: new Map(),
      defaultAgent: serveDefaultAgent({ instructions: "Be brief." }, { client, model: settings }),
      ...services,
    },
  );
  return { opening, [Symbol.asyncDispose]: () => permissionEvents.close() };
}

async function claimFor(owner: string) {
  const name = `room-${createId()}`;
  const claim = sessionClaim({ conversationId: name, room: name, owner });
  await claimSession(database.sql, claim);
  return claim;
}

/** Starts a job whose room cannot be joined, while another worker owns the session for a moment longer. */
async function failToJoin({ hasTurn }: { readonly hasTurn: boolean }) {
  const { sql } = database;
  const claim = await claimFor("dead");
  if (hasTurn) await insertTurn(writerOf(sql, claim.sessionId), newTurn());
  const events: SessionEvent[] = [];
  const connect = () => Promise.reject(new Error("The room cannot be joined"));
  const services = { watchers: [(event: SessionEvent) => events.push(event)] };
  const begun = await beginJob(claim.room, { connect, leave: () => {} }, services);
  await expect(begun.opening).rejects.toThrow("cannot be joined");
  await releaseOwner(sql, { owner: "dead" });
  const session = async () => {
    const [row] = await sql<{ epoch: number; owner: string | null }[]>`
      select epoch::int, lease_owner as owner from sessions where id = ${claim.sessionId}
    `;
    return row;
  };
  return { session, events, [Symbol.asyncDispose]: () => begun[Symbol.asyncDispose]() };
}

test("a job that cannot join its room releases the session that it gets later", async () => {
  await using failed = await failToJoin({ hasTurn: false });

  await expect.poll(failed.session, { timeout: 10_000 }).toEqual({ epoch: 2, owner: null });
});

test("such a job leaves an earlier worker's turn to the next worker", async () => {
  await using failed = await failToJoin({ hasTurn: true });

  await expect.poll(failed.session, { timeout: 10_000 }).toEqual({ epoch: 3, owner: null });
  const ends = () => failed.events.flatMap((event) => (event.type === "turn" ? event.event.type : []));
  await expect.poll(ends, { timeout: 10_000 }).toContain("turn_complete");
  const [turn] = await database.sql`select state from turns where participant_identity = 'ann'`;
  expect(turn).toEqual({ state: "running" });
});

test("an agent whose session another agent keeps leaves the room, which is not an error", async () => {
  const { room } = await claimFor("here already");
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const reasons: string[] = [];
  const job = { connect: async () => {}, leave: (reason: string) => void reasons.push(reason) };
  await using begun = await beginJob(room, job, { logger, leaseMs: 300 });

  const session = await begun.opening;
  await session.close(0);

  expect(reasons).toEqual(["another agent serves the session"]);
  const logged = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
  // The room does not exist on the LiveKit server, so listing its dispatches may fail.
  const warnings = logged.filter(({ level }) => level > 30).map(({ msg }) => msg);
  expect(warnings.filter((msg) => msg !== "listing dispatches failed")).toEqual([]);
  expect(logged.map(({ msg }) => msg)).toContain("another agent serves this session, leaving the room");
});
