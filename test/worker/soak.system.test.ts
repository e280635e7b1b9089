import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Room } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { connect, type Parley } from "../../src/client/index.ts";
import { createToken } from "../support/participant.ts";
import { LiveHeap } from "./support/live-heap.ts";
import { jobProcesses, type RunningMain } from "./support/run-main.ts";
import { KINDS, playSoakModel } from "./support/soak-model.ts";
import { WorkerParts } from "./support/worker-parts.ts";

/** `npm run test:soak` runs ten thousand turns, and kills after every five hundredth. */
const TURNS = Number(process.env["SOAK_TURNS"] ?? 60);
const KILL_EVERY = Number(process.env["SOAK_KILL_EVERY"] ?? 25);
/** How many turns after each kill are not measured, because the new process has to warm up first. */
const WARM_UP = Math.floor(KILL_EVERY / 2);
const MAX_GROWTH = 1.1;
/**
 * By what factor the heap may grow. The limit is loose in a run with only two stretches, because a process uses 57 or
 * 79 MB, depending on the order in which it loads things.
 */
const MAX_HEAP_GROWTH = TURNS >= 4 * KILL_EVERY ? MAX_GROWTH : 1.5;
/**
 * By what factor the CPU time for a turn may grow. The limit is loose in a run with only a few turns, because no
 * process warms up that quickly.
 */
const MAX_TIME_GROWTH = TURNS >= 4 * KILL_EVERY ? MAX_GROWTH : 3;
const ANSWER_WITHIN_MS = 60_000;

/** The resources used by the turns between two kills, once the process was warm. */
interface Stretch {
  readonly untilTurn: number;
  /** The median time to an answer. */
  readonly answerMs: number;
  readonly residentMb: number;
  /** Memory in use after the last turn, without garbage. */
  readonly heapMb: number;
  /** CPU time for each turn. */
  readonly cpuMs: number;
}

test(
  `a session of ${TURNS} turns with text, thinking and tools continues though its worker is killed at each ${KILL_EVERY}th`,
  { timeout: (TURNS + KILL_EVERY) * 2_000 + 120_000 },
  async () => {
    await using parts = await WorkerParts.start({ bindsThinking: true });
    const heap = new LiveHeap(parts.folder);
    const main = await parts.run({
      env: { PARLEY_CONFIG: "test/fixtures/soak/parley.config.ts", NODE_OPTIONS: heap.nodeOptions },
    });
    const cache = playSoakModel(parts.model);
    const long = await talk("long", TURNS, { parts, main, heap });
    const cacheShare = { mean: mean(cache.shares), lowest: Math.min(...cache.shares), of: cache.shares.length };
    const sharesOfLong = cache.shares.splice(0);
    // The short session runs right after the long one, because the machine's load may change over time.
    const short = await talk("short", KILL_EVERY, { parts, main, heap });

    const { sql } = parts.database;
    expect(parts.model.rejections).toEqual([]);
    expect([...long.faults, ...short.faults]).toEqual([]);
    // Turns are stored after their words are sent, so the last turn may not have a row yet.
    const notStored = async () => {
      const rows = await sql<{ asked: string }[]>`
        select room || ': ' || (input -> -1 ->> 'text') as asked
        from turns join sessions on sessions.id = session_id where state = 'completed'`;
      const stored = new Set(rows.map(({ asked }) => asked));
      return [...long.asked, ...short.asked].filter((asked) => !stored.has(asked));
    };
    await expect.poll(notStored, { timeout: 10_000 }).toEqual([]);
    const [stored] = await sql<{ turns: number; summaries: number; open: number }[]>`
      select (select count(*)::int from turns) as turns,
        (select count(*)::int from summaries) as summaries,
        (select count(*)::int from tool_calls where state in ('pending', 'running')) as open`;
    process.stderr.write(`${JSON.stringify({ ...stored, cacheShare })}\n`);
    expect(stored).toMatchObject({ turns: TURNS + KILL_EVERY, open: 0 });
    expect(stored?.summaries).toBeGreaterThan(0);
    expect(sharesOfLong.filter((share) => share < 0.95)).toEqual([]);
    // Compares the medians of several stretches, because two processes that have done the same differ by some MB.
    const half = Math.ceil(long.stretches.length / 2);
    const [early, late] = [long.stretches.slice(0, half), long.stretches.slice(half)].map((stretches) =>
      median(stretches.map(({ heapMb }) => heapMb)),
    ) as [number, number];
    const growth = late / early;
    const moreTime = (long.stretches.at(-1)?.cpuMs ?? Number.NaN) / (short.stretches[0]?.cpuMs ?? Number.NaN);
    process.stderr.write(`${JSON.stringify({ heapMb: { early, late }, growth, moreTime })}\n`);
    expect(growth).toBeLessThan(MAX_HEAP_GROWTH);
    expect(moreTime).toBeLessThan(MAX_TIME_GROWTH);
  },
);

/** Two people take turns, and each answer is checked. */
async function talk(
  room: string,
  turns: number,
  { parts, main, heap }: { readonly parts: WorkerParts; readonly main: RunningMain; readonly heap: LiveHeap },
): Promise<{
  readonly asked: readonly string[];
  readonly faults: readonly string[];
  readonly stretches: readonly Stretch[];
}> {
  const speakers = [await join(room, "ann", parts), await join(room, "bob", parts)];
  const asked: string[] = [];
  const faults: string[] = [];
  const stretches: Stretch[] = [];
  let answerMs: number[] = [];
  let uses: HostUse[][] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const question = `<${turn}-${KINDS[turn % KINDS.length]}>`;
    asked.push(`${room}: ${question}`);
    const inStretch = turn % KILL_EVERY;
    if (inStretch === 0) {
      const { pid, ...use } = useOf(uses, answerMs.length);
      const heapMb = Math.round(10 * ((await heap.of(pid)) ?? Number.NaN)) / 10;
      stretches.push({ untilTurn: turn, answerMs: median(answerMs), ...use, heapMb });
      process.stderr.write(`${room}: ${JSON.stringify(stretches.at(-1))}\n`);
      [answerMs, uses] = [[], []];
    }
    const askedAt = performance.now();
    const answering = speakers[turn % 2]?.ask(question, { timeoutMs: ANSWER_WITHIN_MS });
    if (inStretch === 0) await killHosts(main);
    const { text = "" } = (await answering?.catch((error: unknown) => ({ text: String(error) }))) ?? {};
    if (!text.includes(question)) faults.push(`${room}: ${question} was answered with: ${text}`);
    if (inStretch > WARM_UP) answerMs.push(performance.now() - askedAt);
    if (inStretch === WARM_UP || inStretch === KILL_EVERY - 1 || (inStretch > WARM_UP && turn % 10 === 0))
      uses.push(usesOf(main));
  }
  for (const speaker of speakers) await speaker.close();
  return { asked, faults, stretches };
}

/** A participant with a device. Its client finds the next worker by itself. */
async function join(name: string, identity: string, { livekit }: WorkerParts): Promise<Parley> {
  const room = new Room();
  const token = await createToken(name, identity, { server: livekit });
  await room.connect(livekit.url, token, { autoSubscribe: false, dynacast: false });
  const parley = await connect(room, { waitForAgentMs: 60_000 });
  parley.registerTool({
    name: "scan",
    description: `The scanner of ${identity}.`,
    input: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
    run: ({ question }) => ({ pages: 1, of: question }),
  });
  return parley;
}

/** Kills the hosts in the middle of a turn. Main cleans up after them, and starts another one. */
async function killHosts(main: RunningMain): Promise<void> {
  await sleep(5);
  for (const pid of jobProcesses(main.pid)) process.kill(pid, "SIGKILL");
}

interface HostUse {
  readonly pid: number;
  readonly cpuMs: number;
  readonly residentMb: number;
}

/** The resources that the host processes have used. One of them may be waiting for sessions. */
function usesOf(main: RunningMain): HostUse[] {
  return jobProcesses(main.pid).map((pid) => {
    // The CPU time is in fields 14 and 15 of the whole line, in hundredths of a second.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    // The process's own memory, resident or swapped. File pages are left out, because other processes affect how many
    // stay loaded.
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = [...status.matchAll(/^(?:RssAnon|VmSwap):\s+(\d+)/gm)].map(([, size]) => Number(size));
    const residentMb = kilobytes.reduce((sum, size) => sum + size, 0) / 1_024;
    return { pid, cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, residentMb };
  });
}

/** The busiest process's memory, and its CPU time for each turn. */
function useOf(
  samples: readonly HostUse[][],
  turns: number,
): Pick<Stretch, "residentMb" | "cpuMs"> & { readonly pid: number } {
  const ofPid = (pid: number) => samples.flatMap((uses) => uses.filter((use) => use.pid === pid));
  const cpuMs = (pid: number) => (ofPid(pid).at(-1)?.cpuMs ?? 0) - (ofPid(pid)[0]?.cpuMs ?? 0);
  const pids = (samples.at(-1) ?? []).map(({ pid }) => pid).toSorted((a, b) => cpuMs(b) - cpuMs(a));
  const busiest = pids[0] ?? 0;
  const residentMb = median(ofPid(busiest).map((use) => use.residentMb));
  return { pid: busiest, residentMb, cpuMs: Math.round((10 * cpuMs(busiest)) / turns) / 10 };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return Math.round(10 * (sorted[Math.floor(sorted.length / 2)] ?? 0)) / 10;
}
