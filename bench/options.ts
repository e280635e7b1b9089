import { readFlags, UsageError } from "../src/worker/settings/command-line.ts";
import { type Extent, WORK_NAMES, type WorkName } from "./works/work.ts";

export const USAGE = `Usage: npm run bench -- [options]

Measures Parley beside stock agents of LiveKit, in rounds that take turns, each with a livekit-server of its own and all
with the same model. Prints a table and writes bench/results/latest.json.

  --quick           fewer rounds, questions and turns: to see whether it runs, and the rough figures
  --only <works>    some of answers, floors, long-talk, long-answers, burst, joins, rooms-at-once, slow-database,
                    spans, client-call, client, profile, bundles; with a comma
  --arms <names>    some of parley, agents-js, agents-python; with a comma (default: all that can be had here)
  --turns <n>       turns before a talk counts as long (default: 1200; with --quick 100)
  --check           says which ratios are worse than the recorded ones by more than the noise, and exits with 1 then
  --record          also writes bench/results/recorded.json, and from it the tables and charts of docs/performance.md
  --help            this text`;

const ARMS = ["parley", "agents-js", "agents-python"] as const;
export type AgentName = (typeof ARMS)[number];

const FULL: Extent = { rounds: 7, questions: 40, warmUp: 20, turns: 1_200, sessions: 20, rooms: 30 };
const QUICK: Extent = { rounds: 3, questions: 10, warmUp: 5, turns: 100, sessions: 5, rooms: 5 };

export interface BenchOptions {
  readonly extent: Extent;
  readonly works: readonly WorkName[];
  readonly arms: readonly AgentName[];
  /** Whether the user named the arms. If so, it is an error if one of them cannot be installed. */
  readonly areArmsNamed: boolean;
  readonly isCheck: boolean;
  readonly isRecord: boolean;
}

const FLAGS = {
  quick: { type: "boolean", default: false },
  only: { type: "string" },
  arms: { type: "string" },
  turns: { type: "string" },
  check: { type: "boolean", default: false },
  record: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseBenchOptions(args: readonly string[]): BenchOptions | undefined {
  const { quick, only, arms, turns, check, record, help } = readFlags(args, FLAGS);
  if (help) return undefined;
  const extent = quick ? QUICK : FULL;
  return {
    extent: turns === undefined ? extent : { ...extent, turns: readTurns(turns) },
    // `floors` is omitted by default, because `answers` also measures the floors.
    works: only === undefined ? WORK_NAMES.filter((name) => name !== "floors") : readNames("--only", only, WORK_NAMES),
    arms: arms === undefined ? ARMS : readNames("--arms", arms, ARMS),
    areArmsNamed: arms !== undefined,
    isCheck: check,
    isRecord: record,
  };
}

function readTurns(text: string): number {
  const turns = Number(text);
  if (Number.isInteger(turns) && turns >= 1 && turns <= 100_000) return turns;
  throw new UsageError(`--turns: expected a whole number from 1 to 100000, got ${text}`);
}

function readNames<Name extends string>(flag: string, text: string, names: readonly Name[]): Name[] {
  return text.split(",").map((given) => {
    const name = names.find((each) => each === given.trim());
    if (name === undefined) throw new UsageError(`${flag}: expected ${names.join(", ")}, got ${given}`);
    return name;
  });
}
