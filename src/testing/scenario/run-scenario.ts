import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { AppError } from "../../errors/app-error.ts";
import { describeIssue } from "../../lib/checks/describe-issue.ts";
import { cassette } from "../cassette/cassette.ts";
import { judge } from "../model/judge.ts";
import { real } from "../model/real.ts";
import { scripted } from "../model/scripted.ts";
import type { TestModel } from "../model/test-model.ts";
import type { RoomServers } from "../stage/room-servers.ts";
import { startTalk } from "../start-talk.ts";
import type { Talk } from "../talk.ts";
import type { Turn } from "../turn.ts";
import { checkNames } from "./check-names.ts";
import { checkTurn, diffTurn, type Problem } from "./check-turn.ts";
import { type Expectation, type Scenario, scenarioSchema, type ScenarioTurn } from "./schema.ts";

/** The result of one run of a test. */
export interface TestRun {
  readonly file: string;
  readonly name: string;
  /** The number of the run, from 1. */
  readonly run: number;
  readonly ms: number;
  /** Why the run failed, for people. A failed expectation also shows the turn. */
  readonly failure: string | undefined;
}

export interface RunOptions {
  /** How often to run the test. @defaultValue the file's own number */
  readonly repeat?: number | undefined;
  /** The servers for running the test in a real room. @defaultValue none: the test runs in memory */
  readonly room?: RoomServers | undefined;
  /** Whether both ends speak and listen, which needs a room. @defaultValue false */
  readonly voice?: boolean;
}

/** Runs a scenario, repeatedly if requested. A file that cannot be read yields one failed run. */
export async function* runScenario(file: string, options: RunOptions = {}): AsyncGenerator<TestRun> {
  let scenario: Scenario;
  try {
    scenario = await readScenario(file);
  } catch (error) {
    yield { file, name: file, run: 1, ms: 0, failure: messageOf(error) };
    return;
  }
  const { name = file } = scenario;
  for (let run = 1; run <= (options.repeat ?? scenario.repeat); run++) {
    const startedAt = performance.now();
    const failure = await runOnce(file, scenario, options).catch(messageOf);
    yield { file, name, run, ms: Math.round(performance.now() - startedAt), failure };
  }
}

async function runOnce(
  file: string,
  scenario: Scenario,
  { room, voice = false }: RunOptions,
): Promise<string | undefined> {
  const folder = dirname(resolve(file));
  const { config, agent, mocks, turns } = scenario;
  await using talk = await startTalk({
    ...(config !== undefined && { config: resolve(folder, config) }),
    ...(agent !== undefined && { agent }),
    mocks,
    model: toModel(scenario, folder),
    ...(room && { room }),
    voice,
  });
  checkNames(scenario, talk.agent);
  prepare(talk, scenario);
  for (const [index, turn] of turns.entries()) {
    const failure = await runTurn(talk, turn);
    if (failure !== undefined) return `turn ${index + 1} of ${turns.length}:\n${failure}`;
  }
  const left = talk.repliesLeft;
  return left === 0 ? undefined : `after the last turn, ${left} of the model's replies were left unused`;
}

async function runTurn(talk: Talk, turn: ScenarioTurn): Promise<string | undefined> {
  prepare(talk, turn);
  const options = { withinMs: turn.timeout_ms };
  const seen = await (turn.user === undefined ? talk.nextTurn(options) : talk.say(turn.user, options));
  const expected = turn.expect ?? [];
  const problems = [...checkTurn(seen, expected), ...(await judgeTurn(seen, expected))];
  return problems.length === 0 ? undefined : diffTurn(seen, problems);
}

async function judgeTurn(turn: Turn, expected: readonly Expectation[]): Promise<Problem[]> {
  const statements = expected.flatMap(({ judge: statement }) => statement ?? []);
  const verdicts = await Promise.all(statements.map((statement) => judge(turn, statement)));
  return verdicts.flatMap((why, index) =>
    why === undefined ? [] : [{ part: "agent", expected: `judge: ${statements[index]} (${why})` }],
  );
}

function prepare(talk: Talk, { device, permission = [] }: Pick<ScenarioTurn, "device" | "permission">): void {
  if (device) talk.device({ tools: device });
  for (const { answer, ...options } of permission) talk.permission(answer, options);
}

/**
 * Returns the cassette that the scenario specifies, otherwise a script of its turns' replies, otherwise the real model.
 */
function toModel({ cassette: file, timed: isTimed, turns }: Scenario, folder: string): TestModel {
  if (file !== undefined) return cassette(resolve(folder, file), { isTimed });
  const script = turns.flatMap(({ model = [] }) => model);
  return script.length > 0 ? scripted(script) : real();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @throws {AppError} `invalid_config` naming the file, the place and what was expected there */
async function readScenario(file: string): Promise<Scenario> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new AppError("invalid_config", `${file}: cannot be read`, { cause: error });
  });
  return parseScenario(text, file);
}

/** @param file named in errors */
function parseScenario(text: string, file: string): Scenario {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new AppError("invalid_config", `${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = scenarioSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${file}: ${describeIssue(issue, value, scenarioSchema)}`);
  throw new AppError("invalid_config", lines.join("\n"));
}
