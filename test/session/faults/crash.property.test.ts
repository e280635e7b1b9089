import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, type Sql } from "../../../src/store/database/pool.ts";
import { faultsOf } from "../../support/crash/check-world.ts";
import { CrashWorld, type Scenario, type ToolName, TOOLS } from "../../support/crash/crash-world.ts";
import { Traffic } from "../../support/crash/dying-worker.ts";
import { forgetListeners } from "../../support/crash/listeners.ts";
import { tempDatabase, type TempDatabase } from "../../support/servers/temp-database.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

const TALKS = propertyRuns(80);
const SEED = propertySeed();

let database: TempDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await tempDatabase();
  // Commits need not wait for the disk. Committed data survives these crashes, because the database server itself never
  // dies.
  const [{ name } = { name: "" }] = await database.sql<{ name: string }[]>`select current_database() as name`;
  await database.sql`alter database ${database.sql(name)} set synchronous_commit = off`;
  await database.sql.end();
  sql = connect(database.url);
  // Opens all connections while time is still real.
  await Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.05)`));
});

afterAll(async () => {
  await sql.end();
  await database.drop();
});

const use = fc.record({
  name: fc.constantFrom(...(Object.keys(TOOLS) as ToolName[])),
  input: fc.oneof(
    { weight: 9, arbitrary: fc.record({ n: fc.nat(99) }) },
    { weight: 1, arbitrary: fc.record({ n: fc.constant("none") }) },
  ),
});
const step = fc.array(use, { minLength: 1, maxLength: 3 });
const scenario: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.nat(2 ** 31),
  deaths: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 3 }),
  wakesAfterMs: fc.array(
    fc.option(fc.integer({ min: 1_000, max: 20_000 }), { freq: 2 }).map((ms) => ms ?? undefined),
    {
      minLength: 3,
      maxLength: 3,
    },
  ),
  failures: fc.array(fc.tuple(fc.integer({ min: 1, max: 120 }), fc.constantFrom("refused", "answer lost")), {
    maxLength: 3,
  }),
  messages: fc.array(fc.array(step, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
  gapMs: fc.constantFrom(0, 500, 3_000, 15_000),
  onNewMessage: fc.constantFrom("queue", "interrupt"),
  stopsAt: fc.option(fc.integer({ min: 1_500, max: 8_000 }), { nil: undefined, freq: 2 }),
  phoneNamesTools: fc.boolean(),
});

/** Runs `work` in virtual time. Disables intervals, which only renew the lease and tend connections. */
async function inVirtualTime<Result>(
  { failures }: Scenario,
  work: (ports: { clock: VirtualClock; traffic: Traffic }) => Promise<Result>,
) {
  const traffic = new Traffic(new Map(failures));
  using clock = new VirtualClock(() => traffic.count > 0);
  // Virtual time starts at the real time, which the database uses.
  clock.now = new Date().getTime();
  const interval = vi.spyOn(globalThis, "setInterval").mockReturnValue(0 as never);
  try {
    return await work({ clock, traffic });
  } finally {
    interval.mockRestore();
    forgetListeners();
  }
}

test(
  `over ${TALKS} sessions whose workers die or freeze and whose statements fail at any moment, each call runs once and all that was started ends`,
  { timeout: 60_000 + TALKS * 1_000 },
  async () => {
    const failures: string[] = [];
    let deaths = 0;
    let stoodStill = 0;
    let runs = 0;
    for (const planned of fc.sample(scenario, { seed: SEED, numRuns: TALKS })) {
      const faults = await inVirtualTime(planned, async (ports) => {
        const world = new CrashWorld(sql, planned, ports);
        await world.play();
        deaths += world.workers - 1;
        stoodStill += world.stoodStill;
        runs += world.runs.length;
        const broken = await faultsOf(world, sql);
        return broken.length > 0 ? [...broken, await world.describeEnd()] : [];
      });
      for (const fault of faults) failures.push(`${fault}: ${JSON.stringify(planned)}`);
    }
    expect(failures).toEqual([]);
    // The test proves something only if enough workers die or freeze, and enough tools run.
    expect(deaths).toBeGreaterThan(TALKS);
    expect(stoodStill).toBeGreaterThan(TALKS / 4);
    expect(runs).toBeGreaterThan(TALKS);
  },
);
