import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createConversationArchive } from "../src/session/record/conversation-archive.ts";
import { restore, type Restored } from "../src/session/restore/restore.ts";
import type { SessionWriter } from "../src/store/sessions/session-writer.ts";
import { fillTalk } from "../test/session/restore/fill-talk.ts";
import { storedSession } from "../test/store/store-fixtures.ts";
import { recordTalks, thisRun, type Percentiles } from "./report/talks-record.ts";
import { TestAgent } from "../test/support/agent.ts";
import { tempDatabase } from "../test/support/servers/temp-database.ts";

const SHORT = 100;
const LONG = Number(process.env["TURNS"] ?? 100_000);
const ROUNDS = 100;
const JOINS = 20;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** The two sessions are measured alternately, so that the machine's load is the same for both. */
test(`what the restore of a talk takes after ${SHORT} turns, and after ${LONG}`, async () => {
  const run = thisRun();
  await using database = await tempDatabase();
  const talk = async (length: number): Promise<SessionWriter> => {
    const writer = await storedSession(database.sql);
    await fillTalk(database.sql, { sessionId: writer.lease.sessionId, length });
    return writer;
  };
  const talks = [await talk(SHORT), await talk(LONG)] as const;

  const ms = await timesOf(ROUNDS, talks, restored);
  const kilobytes = [await measureSessionKb(talks[0]), await measureSessionKb(talks[1])] as const;

  console.log(JSON.stringify({ what: "restore", ms, kilobytes }));
  await recordTalks({ restore: { ...run, turns: [SHORT, LONG], ms, kilobytes } });
  expect(ms).toHaveLength(2);
});

test(`how soon a worker that joins a room has its session open, after ${SHORT} turns and after ${LONG}`, async () => {
  const run = thisRun();
  await using short = await TestAgent.start();
  await using long = await TestAgent.start();
  for (const [agent, length] of [[short, SHORT] as const, [long, LONG] as const]) {
    await agent.leave();
    const [session] = await agent.sql<{ id: string }[]>`select id from sessions`;
    await fillTalk(agent.sql, { sessionId: session?.id ?? "", length });
  }

  const ms = await timesOf(JOINS, [short, long], async (agent) => {
    await agent.join();
    return () => agent.leave();
  });

  console.log(JSON.stringify({ what: "join", ms }));
  await recordTalks({ join: { ...run, ms } });
  expect(ms).toHaveLength(2);
});

const restored = (writer: SessionWriter): Promise<Restored> =>
  restore(writer, {
    archive: createConversationArchive(writer, { model: "m", maxBytes: 20_000 }),
    resultMaxBytes: 1_000,
  });

/**
 * Measures how many ms each call of `act` takes. If `act` returns a function, that function is called afterwards and
 * not measured.
 */
async function timesOf<Of>(rounds: number, each: readonly [Of, Of], act: (of: Of) => Promise<unknown>) {
  const times: readonly [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++)
    for (const [index, of] of round % 2 === 0 ? [...each.entries()] : [...each.entries()].toReversed()) {
      const begunAt = performance.now();
      const done = await act(of);
      times[index]?.push(performance.now() - begunAt);
      if (typeof done === "function") await done();
    }
  return [percentiles(times[0]), percentiles(times[1])] as const;
}

/** Returns the memory of one restored session, in kB. */
async function measureSessionKb(writer: SessionWriter): Promise<number> {
  await restored(writer);
  collect();
  const before = process.memoryUsage().heapUsed;
  const restoredSessions: Restored[] = [];
  for (let count = 0; count < ROUNDS; count++) restoredSessions.push(await restored(writer));
  collect();
  return Math.round((process.memoryUsage().heapUsed - before) / restoredSessions.length / 1_024);
}

const percentiles = (ms: readonly number[]): Percentiles => ({ p50: percentile(ms, 0.5), p95: percentile(ms, 0.95) });

function percentile(ms: readonly number[], part: number): number {
  return Math.round(100 * (ms.toSorted((a, b) => a - b)[Math.floor(part * ms.length)] ?? 0)) / 100;
}
