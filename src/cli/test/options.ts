import { readWords, UsageError } from "../../worker/settings/command-line.ts";

export const TEST_USAGE = `Usage: npm run parley -- test [options] [file or folder …]

Runs tests of the agent: the named files, and in the named folders (default: the current one) all *.talk.yaml and the
*.test.ts that are written for Node's test runner (node:test).

  --repeat <n>        runs each test so often, to find one that does not always pass
  --room              those in YAML in rooms of a livekit-server, which is started, and not in memory
  --voice             those in YAML in such rooms, and spoken: both ends by espeak-ng
  --junit <file>      writes the result as JUnit's XML, too
  --help              this text

Exits with 0 when all tests pass, 1 when not, and 2 for a wrong command line.

Environment: PARLEY_RECORD=1 records cassettes again, with ANTHROPIC_API_KEY.`;

export interface TestOptions {
  readonly paths: readonly string[];
  readonly repeat: number | undefined;
  readonly isInRoom: boolean;
  readonly hasVoice: boolean;
  readonly junit: string | undefined;
}

const FLAGS = {
  repeat: { type: "string" },
  room: { type: "boolean", default: false },
  voice: { type: "boolean", default: false },
  junit: { type: "string" },
} as const;

/** @returns `undefined` for `--help`. @throws {UsageError} */
export function parseTestOptions(args: readonly string[]): TestOptions | undefined {
  const { values, positionals } = readWords(args, FLAGS);
  if (values.help) return undefined;
  const repeat = values.repeat === undefined ? undefined : Number(values.repeat);
  if (repeat !== undefined && !(Number.isInteger(repeat) && repeat > 0))
    throw new UsageError("--repeat: expected a number of runs, 1 or more");
  return {
    paths: positionals.length > 0 ? positionals : ["."],
    repeat,
    isInRoom: values.room || values.voice,
    hasVoice: values.voice,
    junit: values.junit,
  };
}
