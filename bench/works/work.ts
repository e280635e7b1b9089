import type { Arm } from "../arms/arm.ts";
import type { Model } from "../model/start-model.ts";
import type { Samples } from "../report/samples.ts";

export interface Extent {
  readonly rounds: number;
  /** The number of questions of each kind, per arm and round. */
  readonly questions: number;
  readonly warmUp: number;
  /** The number of turns in a long conversation. */
  readonly turns: number;
  /** The number of sessions that send a question at the same time. */
  readonly sessions: number;
  /** The number of rooms that are created at the same time. */
  readonly rooms: number;
}

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
  "rooms-at-once",
  "slow-database",
  "spans",
  "client-call",
  "client",
  "profile",
  "bundles",
] as const;
export type WorkName = (typeof WORK_NAMES)[number];

export interface Work {
  /** The work's name for `--only`. */
  readonly name: WorkName;
  /** Whether the work needs agents. */
  readonly hasArms: boolean;
  readonly run: (bench: Bench) => Promise<void>;
}

/** Rotates the order of the arms by round: ABC, BCA, CAB. */
export function rotate<Each>(all: readonly Each[], round: number): Each[] {
  const start = round % Math.max(1, all.length);
  return [...all.slice(start), ...all.slice(0, start)];
}

/** Runs `work` several times, one after another. */
export async function repeat<Result>(times: number, work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let time = 0; time < times; time++) results.push(await work());
  return results;
}
