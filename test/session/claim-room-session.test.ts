import { pino } from "pino";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { claimRoomSession } from "../../src/session/claim-room-session.ts";
import { claimSession, releaseLease, renewLease } from "../../src/store/sessions/leases.ts";
import { sessionClaim, writerOf } from "../store/store-fixtures.ts";
import { forFile } from "../support/lifetimes.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";

const LEASE_MS = 3_000;
const database = forFile(tempDatabase);

/** Claims a session. Its owner renews the lease every 300 ms, and releases it after `renewals` renewals. */
async function claimFromLiving({ keepsSession, renewals }: { keepsSession: boolean; renewals: number }) {
  const { sql } = database;
  const name = `room-${createId()}`;
  const owned = sessionClaim({ conversationId: name, room: name, owner: "living", leaseMs: LEASE_MS });
  await claimSession(sql, owned);
  const writer = writerOf(sql, owned.sessionId);
  let left = renewals;
  const timer = setInterval(() => {
    if (left-- > 0) void renewLease(writer, { leaseMs: LEASE_MS });
    else void releaseLease(writer);
  }, 300);
  try {
    const { lease } = await claimRoomSession({
      sql,
      conversationId: name,
      room: name,
      roomSid: undefined,
      owner: "late",
      leaseMs: LEASE_MS,
      link: { otherAgents: ["agent-living"], keepsSession: () => keepsSession },
      silence: async () => {},
      policy: { toolResultMaxBytes: 1_000 },
      logger: pino({ level: "silent" }),
    });
    await lease.release();
  } finally {
    clearInterval(timer);
  }
}

test("a claim gives up once the session's owner renews its lease", async () => {
  await expect(claimFromLiving({ keepsSession: true, renewals: 8 })).rejects.toThrow(
    "Another agent is already serving",
  );
});

test("a claim waits for an owner that hands its session over, however often the owner renews its lease", async () => {
  await expect(claimFromLiving({ keepsSession: false, renewals: 6 })).resolves.toBeUndefined();
});
