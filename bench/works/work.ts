import type { Arm } from "../arms/arm.ts";
import type { Model } from "../model/start-model.ts";
import type { Samples } from "../report/samples.ts";

/** How much is measured. */
export interface Extent {
  readonly rounds: number;
  /** Questions of each kind in one round of one arm. */
  readonly questions: number;
  readonly warmUp: number;
  /** Turns of a talk before it counts as long. */
  readonly turns: number;
  /** Sessions that ask at once. */
  readonly sessions: number;
}

/** What the works share. */
export interface Bench {
  readonly extent: Extent;
  readonly arms: readonly Arm[];
  readonly model: Model;
  readonly databaseUrl: string;
  readonly databasePid: number;
  readonly samples: Samples;
  readonly progress: (line: string) => void;
}

export const WORK_NAMES = [
  "answers",
  "floors",
  "long-talk",
  "long-answers",
  "burst",
  "joins",
  "slow-database",
  "spans",
  "client",
  "profile",
  "bundles",
] as const;
export type WorkName = (typeof WORK_NAMES)[number];

export interface Work {
  /** What `--only` calls it. */
  readonly name: WorkName;
  /** Whether agents are started for it. */
  readonly hasArms: boolean;
  readonly run: (bench: Bench) => Promise<void>;
}

/** In each round the arms go in another order: ABC, BCA, CAB. */
export function rotate<Each>(all: readonly Each[], round: number): Each[] {
  const start = round % Math.max(1, all.length);
  return [...all.slice(start), ...all.slice(0, start)];
}

/** Runs `work` a number of times, one after another. */
export async function repeat<Result>(times: number, work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let time = 0; time < times; time++) results.push(await work());
  return results;
}
