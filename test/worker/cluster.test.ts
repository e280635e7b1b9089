import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Room } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { connect } from "../../src/client/index.ts";
import { createId } from "../../src/lib/id.ts";
import { createRandom } from "../support/doubles/fake-room.ts";
import type { RecordedRequest } from "../../src/model-server/model-server.ts";
import { reply, type Step, text, toolUse } from "../../src/model-server/step.ts";
import { createToken } from "../support/participant.ts";
import { propertySeed } from "../support/property-runs.ts";
import { Cluster } from "./support/cluster.ts";

/**
 * How many seconds the test runs. It is off by default, because it uses a whole machine for minutes: run `npm run
 * test:cluster`.
 */
const SECONDS = Number(process.env["CLUSTER_SECONDS"] ?? 0);
const TALKS = Number(process.env["CLUSTER_TALKS"] ?? 40);
const KINDS = ["plain", "scan", "order"] as const;
const ANSWER_WITHIN_MS = 90_000;

/** What the participants in all sessions have seen. */
interface Seen {
  readonly answers: number[];
  readonly faults: string[];
  /** The questions for which the device's tool ran, one entry for each run. */
  readonly scans: string[];
}

test.runIf(SECONDS > 0)(
  `while workers are killed, frozen, drained and replaced, ${TALKS} sessions continue for ${SECONDS} s: all is answered, nothing runs twice`,
  { timeout: SECONDS * 1_000 + 240_000 },
  async () => {
    await using cluster = await Cluster.start();
    const { model, database } = cluster;
    const random = createRandom(propertySeed());
    const seen: Seen = { answers: [], faults: [], scans: [] };
    const over = new AbortController();
    model.script((request) => answer(request, model.requests));
    const talks = await Promise.all(Array.from({ length: TALKS }, (_, index) => join(index, { cluster, seen })));
    const ends = Promise.all(talks.map((talk) => talk.askOn(over.signal)));

    await cluster.disturb(SECONDS, random);
    over.abort();
    await ends;
    await Promise.all(talks.map((talk) => talk.leave()));

    const orders = await readFile(cluster.runsFile, "utf8");
    // Compares the questions, because no two calls may place the order for the same question.
    const ordered = orders.split("\n").flatMap((line) => (line === "" ? [] : questionOf(line)));
    const repeated = (runs: readonly string[]) => runs.filter((run, index) => runs.indexOf(run) !== index);
    const open = await database.sql`select 1 from tool_calls where state in ('pending', 'running')`;
    const longest = seen.answers.toSorted((a, b) => b - a).slice(0, 5);
    const medianMs = seen.answers.toSorted((a, b) => a - b)[Math.floor(seen.answers.length / 2)];
    const figures = { events: cluster.events, answers: seen.answers.length, medianMs, longest };
    process.stderr.write(`${JSON.stringify({ ...figures, orders: ordered.length })}\n`);
    expect(seen.faults).toEqual([]);
    expect(repeated(ordered)).toEqual([]);
    expect(repeated(seen.scans)).toEqual([]);
    expect(model.rejections).toEqual([]);
    expect(open).toHaveLength(0);
    expect(Math.min(ordered.length, seen.scans.length)).toBeGreaterThan(TALKS);
    expect(Object.values(cluster.events).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(SECONDS / 12);
  },
);

const questionOf = (line: string) => (JSON.parse(line) as { question: string }).question;

/** A participant with a device, in a separate room. */
async function join(index: number, { cluster, seen }: { readonly cluster: Cluster; readonly seen: Seen }) {
  const server = cluster.serverOf(index);
  const name = `room-${createId()}`;
  const room = new Room();
  await room.connect(server.url, await createToken(name, `user-${index}`, { server }), {
    autoSubscribe: false,
    dynacast: false,
  });
  const parley = await connect(room, { waitForAgentMs: 60_000 });
  parley.registerTool({
    name: "scan",
    description: "Scans.",
    input: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
    run: async ({ question }) => {
      seen.scans.push(JSON.stringify(question));
      await sleep(Math.random() * 400);
      return { content: "Scanned." };
    },
  });
  const ask = async (question: string) => {
    const askedAt = performance.now();
    try {
      const { text: words } = await parley.ask(question, { timeoutMs: ANSWER_WITHIN_MS });
      if (!words.includes(question)) seen.faults.push(`${question} was answered with: ${words}`);
      seen.answers.push(Math.round(performance.now() - askedAt));
    } catch (error) {
      seen.faults.push(`${question} was not answered: ${String(error)}`);
    }
  };
  return {
    /** Asks one question after another. Each unanswered question counts as a fault. */
    async askOn(until: AbortSignal): Promise<void> {
      for (let turn = 0; !until.aborted; turn++) {
        await ask(`<${index}-${turn}-${KINDS[turn % KINDS.length]}>`);
        await sleep(500 + Math.random() * 1_000);
      }
    },
    async leave(): Promise<void> {
      await parley.close();
      await room.disconnect();
    },
  };
}

/** A model that calls the tool in the last question, and then repeats the question. */
function answer({ body }: RecordedRequest, requests: RecordedRequest[]): Step {
  // Forgets old requests, because each contains a whole history.
  if (requests.length > 200) requests.splice(0, 100);
  const messages = body["messages"] as { readonly role: string; readonly content: unknown }[];
  const said = JSON.stringify(messages.filter(({ role }) => role === "user"));
  const question = said.match(/<\d+-\d+-\w+>/gu)?.at(-1) ?? "";
  const isAnswered = JSON.stringify(messages.at(-1)).includes("tool_result");
  const tool = KINDS.slice(1).find((kind) => question.endsWith(`${kind}>`));
  return tool === undefined || isAnswered
    ? reply([text(`I have heard ${question}.`)])
    : reply([toolUse(tool, { question })]);
}
