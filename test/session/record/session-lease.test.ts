import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { SessionLease } from "../../../src/session/record/session-lease.ts";
import { claimSession } from "../../../src/store/sessions/leases.ts";
import type { Sql } from "../../../src/store/database/pool.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { sessionClaim } from "../../store/store-fixtures.ts";

const database = forFile(tempDatabase);
const LEASE_MS = 1_500;

async function claimed() {
  const { sql } = database;
  const claim = sessionClaim({ leaseMs: LEASE_MS });
  const session = await claimSession(sql, claim);
  if (!session) throw new Error("It was not free");
  const options = {
    leaseMs: LEASE_MS,
    claimedAt: performance.now(),
    isAlone: () => true,
    logger: pino({ level: "silent" }),
  };
  const takeOver = () => claimSession(sql, { ...claim, owner: "worker-2" });
  const isUnowned = async () => {
    const rows = await sql`select from sessions where id = ${session.id} and lease_expires_at < now()`;
    return rows.length === 1;
  };
  return { lease: new SessionLease(sql, session, options), takeOver, isUnowned };
}

test("a worker that cannot reach its room releases the session within a third of the lease's duration", async () => {
  const { lease, takeOver, isUnowned } = await claimed();
  lease.setCutOff(true);
  await sleep(100);
  expect(await takeOver()).toBeUndefined();

  await expect.poll(isUnowned, { timeout: LEASE_MS / 2, interval: 20 }).toBe(true);
  expect(await takeOver()).toMatchObject({ takenFrom: "worker-1" });
  lease.setCutOff(false);

  await expect(lease.untilOwned()).rejects.toMatchObject({ code: "lost_lease" });
  expect(lease.lost.aborted).toBe(true);
});

test("work that needs the session waits while the room is unreachable, and continues once it is reachable and nobody has claimed the session", async () => {
  const { lease, takeOver, isUnowned } = await claimed();
  lease.setCutOff(true);
  await expect.poll(isUnowned, { interval: 20 }).toBe(true);
  let isOwned = false;
  const waiting = lease.untilOwned().then(() => (isOwned = true));
  await sleep(LEASE_MS / 2);
  expect(isOwned).toBe(false);

  lease.setCutOff(false);
  await waiting;

  expect(await takeOver()).toBeUndefined();
  await lease.release();
});

test.each([
  { what: "does not answer is away: who is alone may speak", noticedAt: LEASE_MS / 3, maySpeak: true },
  { what: "could not be heard, for this process stood still, tells nothing", noticedAt: 2 * LEASE_MS, maySpeak: false },
])("a database that $what", ({ noticedAt, maySpeak }) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const silent = (() => new Promise(() => {})) as unknown as Sql;
  const lease = new SessionLease(
    silent,
    { id: "s", epoch: 1 },
    { leaseMs: LEASE_MS, claimedAt: 0, isAlone: () => true, logger: pino({ level: "silent" }) },
  );

  now.mockReturnValue(LEASE_MS / 3);
  vi.advanceTimersByTime(LEASE_MS / 3);
  now.mockReturnValue(LEASE_MS / 3 + noticedAt);
  vi.advanceTimersByTime(LEASE_MS / 3);
  now.mockReturnValue(LEASE_MS / 3 + Math.max(noticedAt, LEASE_MS));

  expect(lease.maySpeak).toBe(maySpeak);
  lease.lose();
});
