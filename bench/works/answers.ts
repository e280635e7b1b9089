import type { Arm } from "../arms/arm.ts";
import { cpuOfTree } from "../arms/processes.ts";
import type { Asked, Question, Talk } from "../arms/talk.ts";
import type { ModelCall } from "../model/messages.ts";
import { openFloors } from "./floors.ts";
import { type Bench, repeat, rotate, type Work } from "./work.ts";

/**
 * Measures answers to questions, with and without a tool on the participant's device. Each session lasts through all
 * rounds.
 */
export const answers: Work = {
  name: "answers",
  hasArms: true,
  async run(bench) {
    await using open = new AsyncDisposableStack();
    const floors = open.use(await openFloors(bench));
    const talks = new Map<Arm, Record<"plain" | "tool", Talk>>();
    for (const arm of bench.arms) {
      const [plain, tool] = [open.use(await arm.join("plain")), open.use(await arm.join("tool"))];
      talks.set(arm, { plain, tool });
      await repeat(bench.extent.warmUp, async () => [await plain.ask("plain"), await tool.ask("tool")]);
    }
    for (let round = 0; round < bench.extent.rounds; round++) {
      bench.progress(`answers, round ${round + 1} of ${bench.extent.rounds}`);
      await floors.measure(round);
      for (const [arm, { plain, tool }] of rotate([...talks], round)) {
        await measurePlain(bench, { arm, talk: plain, round });
        await measureTool(bench, { arm, talk: tool, round });
      }
    }
  },
};

interface Part {
  readonly arm: Arm;
  readonly talk: Talk;
  readonly round: number;
}

async function measurePlain(bench: Bench, { arm, talk, round }: Part): Promise<void> {
  const { samples } = bench;
  const databaseBefore = sumOf(cpuOfTree(bench.databasePid));
  const { asked, cpuMs, calls } = await askMany(bench, { arm, talk, question: "plain" });
  const databaseMs = sumOf(cpuOfTree(bench.databasePid)) - databaseBefore;
  const values = (time: (each: Asked) => number) => ({ round, values: asked.map(time) });
  samples.add(
    "answer",
    arm.name,
    values(({ askedAt, wholeAt }) => wholeAt - askedAt),
  );
  samples.add(
    "firstWord",
    arm.name,
    values(({ askedAt, firstWordAt }) => firstWordAt - askedAt),
  );
  samples.add(
    "asked",
    arm.name,
    values(({ id, askedAt }) => callOf(calls, id, 0).askedAt - askedAt),
  );
  samples.add("cpu", arm.name, { round, values: [cpuMs / asked.length] });
  if (arm.name === "parley") samples.add("databaseCpu", arm.name, { round, values: [databaseMs / asked.length] });
}

async function measureTool(bench: Bench, { arm, talk, round }: Part): Promise<void> {
  const { samples } = bench;
  const { asked, cpuMs, calls } = await askMany(bench, { arm, talk, question: "tool" });
  const values = (time: (each: Asked) => number | undefined) => ({
    round,
    values: asked.flatMap((each) => time(each) ?? []),
  });
  const toolOut = ({ id, toolRanAt }: Asked) => toolRanAt && toolRanAt - callOf(calls, id, 0).endedAt;
  const toolBack = ({ id, toolReturnedAt }: Asked) => toolReturnedAt && callOf(calls, id, 1).askedAt - toolReturnedAt;
  samples.add(
    "toolAnswer",
    arm.name,
    values(({ askedAt, wholeAt }) => wholeAt - askedAt),
  );
  samples.add("toolOut", arm.name, values(toolOut));
  samples.add("toolBack", arm.name, values(toolBack));
  samples.add("resultAck", arm.name, { round, values: talk.takeResultAcks() });
  samples.add("toolCpu", arm.name, { round, values: [cpuMs / asked.length] });
}

interface Asking {
  readonly arm: Arm;
  readonly talk: Talk;
  readonly question: Question;
}

type Calls = ReadonlyMap<string, readonly ModelCall[]>;

async function askMany(bench: Bench, { arm, talk, question }: Asking) {
  await bench.model.takeCalls();
  talk.takeResultAcks();
  let asked: readonly Asked[] = [];
  const cpuMs = await arm.cpuOf(async () => {
    asked = await repeat(bench.extent.questions, () => talk.ask(question));
  });
  return { asked, cpuMs, calls: await bench.model.takeCalls() };
}

function sumOf(cpu: ReadonlyMap<number, number>): number {
  return [...cpu.values()].reduce((sum, ms) => sum + ms, 0);
}

function callOf(calls: Calls, id: string, index: number): ModelCall {
  const call = calls.get(id)?.[index];
  if (!call) throw new Error(`The model was not asked ${index + 1} times about ${id}`);
  return call;
}
