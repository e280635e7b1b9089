import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { startModelServer } from "../../../src/model-server/model-server.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { runScenario, type TestRun } from "../../../src/testing/scenario/run-scenario.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

afterEach(() => vi.unstubAllEnvs());

const folder = forEachTest(() => tempFolder());
const CONFIG = `config: ${resolve("test/fixtures/testing/parley.config.ts")}\n`;

async function run(yaml: string, repeat?: number): Promise<TestRun[]> {
  const file = join(folder.path, "a.talk.yaml");
  await writeFile(file, CONFIG + yaml);
  return Array.fromAsync(runScenario(file, { repeat }));
}

const failureOf = async (yaml: string) => (await run(yaml))[0]?.failure;

const BOOKING = `
device:
  get_location: { answer: { city: Paris } }
permission:
  book: { answer: reject, message: Too far. }
turns:
  - user: Book a table near me
    model:
      - use: { get_location: {} }
      - { say: I try., use: { book: { city: Paris } } }
      - Then not.
`;

test("a scenario passes when all of its expectations are met", async () => {
  const failure = await failureOf(`${BOOKING}
    expect:
      - calls: [get_location, { name: book, args: { city: /^Par/ }, error: permission_denied }]
        within_ms: 5000
      - asked: book
      - say: [try, /Then not\\.$/]
      - calls: cancel_booking
        absent: true
  - user: Thanks
    model: [You are welcome.]
    expect: { say: welcome }
`);

  expect(failure).toBeUndefined();
});

test("a failure shows the turn as a diff", async () => {
  const failure = await failureOf(`${BOOKING}
    expect:
      - calls: [{ name: book, args: { city: Rome } }]
      - say: /done/i
`);

  expect(failure).toBe(
    [
      "turn 1 of 1:",
      "  user:  Book a table near me",
      '- calls: book {"city":"Rome"}',
      '+ calls: get_location {} on the device → {"city":"Paris"}',
      '+ calls: book {"city":"Paris"} → permission_denied: Not run: the participant rejected it. What the participant said: Too far.',
      '  asks:  book "Book a table in Paris" → rejected',
      "- agent: /done/i",
      "+ agent: I try. Then not.",
      "  end:   completed",
    ].join("\n"),
  );
});

test.each([
  [
    "calls in another order",
    "calls: [{ name: book, error: permission_denied }, get_location]",
    "- calls: get_location",
  ],
  ["a call that failed", "calls: [get_location, book]", "- calls: book"],
  ["a call that must not be", "{ calls: book, absent: true }", "- calls: no book"],
  ["words that must not be", "{ say: Then, absent: true }", "- agent: not Then"],
  ["a question that must not be", "{ asked: book, absent: true }", "- asks:  not book"],
  ["a question that is not asked", "asked: get_location", "- asks:  get_location"],
  ["another end", "state: failed", "- end:   failed"],
  ["a turn that is too slow", "within_ms: 0", "- end:   within 0 ms, but it took"],
])("%s is a failure", async (_what, expected, line) => {
  expect(await failureOf(`${BOOKING}\n    expect:\n      - ${expected}\n`)).toContain(line);
});

test.each([
  ["answers late", "{ answer: { city: Paris }, late: 20 }", "result: { city: Paris }"],
  ["answers too late", "{ late: 1300 }", "error: timeout"],
  ["is never heard of again", "{ never: true }", "error: timeout"],
  ["answers twice", "{ answer: { city: Paris }, twice: true }", "result: { city: Paris }"],
  ["leaves for good", "{ leave: true }", "error: timeout"],
  ["comes back", "{ answer: { city: Paris }, leave: { back_after_ms: 20 } }", "result: { city: Paris }"],
  ["fails", "{ throws: { message: No signal, code: off } }", "error: off"],
])("a device that %s", async (_what, behavior, seen) => {
  const failure = await failureOf(`
device: { get_location: ${behavior} }
turns:
  - user: Where am I?
    model: [{ use: { get_location: {} } }, That is that.]
    expect: { calls: [{ name: get_location, on: client, ${seen} }] }
`);

  expect(failure).toBeUndefined();
});

test.each([
  ["approve", "approve", "result: { booked: Paris }"],
  ["a word of its own for the tool", "{ '*': reject, book: always }", "result: { booked: Paris }"],
  ["reject", "reject", "error: permission_denied"],
])("a permission that is answered with %s", async (_what, permission, seen) => {
  const failure = await failureOf(`
permission: ${permission}
turns:
  - user: Book a table
    model: [{ use: { book: { city: Paris } } }, That is that.]
    expect: { asked: book, calls: [{ name: book, ${seen} }] }
`);

  expect(failure).toBeUndefined();
});

test("a slow model makes the turn equally slow", async () => {
  const turns = "turns:\n  - user: Hi\n    model: { say: Hello., late: 200 }\n    expect: { within_ms: 150 }\n";

  expect(await failureOf(turns)).toMatch(/- end: {3}within 150 ms, but it took/);
});

test("a turn that fails is a failure, unless it is expected", async () => {
  const turns = "turns:\n  - user: Hi\n    model: [{ use: { unknown: {} } }, { use: { unknown: {} } }]\n";

  expect(await failureOf(turns)).toContain("The script has 2 replies, but the agent asked the model for one more");
});

test("unused replies are a failure", async () => {
  const failure = await failureOf("turns:\n  - user: Hi\n    model: [Hello., Never said.]\n");

  expect(failure).toBe("after the last turn, 1 of the model's replies were left unused");
});

test("a scenario is run as often as requested, each time in a new session", async () => {
  const runs = await run("turns:\n  - user: Hi\n    model: [Hello.]\n", 3);

  expect(runs.map(({ run: number, failure }) => [number, failure])).toEqual([
    [1, undefined],
    [2, undefined],
    [3, undefined],
  ]);
});

test.each([
  ["a word that is unknown", "turns:\n  - usr: Hi\n", /usr/],
  [
    "a field that is misspelt",
    "turns: [{ user: Hi, expct: [] }]\n",
    /turns\.0\.expct: unknown field\. Did you mean "expect"/,
  ],
  [
    "an answer for a tool that there is not",
    "permission: { bok: approve }\nturns: [{ user: Hi, model: Hello. }]\n",
    /permission\.bok: there is no tool "bok"\. Did you mean "book"\?/,
  ],
  [
    "a tool that must not be called, and that there is not",
    "turns: [{ user: Hi, model: Hello., expect: { calls: bok, absent: true } }]\n",
    /expect\.bok: there is no tool "bok"\. Did you mean "book"\?/,
  ],
  [
    "a tool that must be called, and that there is not",
    "turns: [{ user: Hi, model: Hello., expect: { calls: bok } }]\n",
    /expect\.bok: there is no tool "bok"\. Did you mean "book"\?/,
  ],
  [
    "a mock of a tool that there is not",
    "mocks: { bok: { answer: 1 } }\nturns: [{ user: Hi, model: Hello. }]\n",
    /mocks\.bok: the agent has no such tool; add a description to create one\. Did you mean "book"\?/,
  ],
  [
    "a permission answer that there is not",
    "permission: aprove\nturns: [{ user: Hi, model: Hello. }]\n",
    /permission\.\*\.answer: expected one of .*"approve".*, got "aprove"/,
  ],
  ["two behaviors at once", "device: { a: { never: true, late: 5 } }\nturns: [{ user: Hi }]\n", /one of late, twice/],
  ["no YAML", "turns: [", /a\.talk\.yaml/],
  [
    "an end beside what must not be",
    "turns: [{ user: Hi, expect: { say: Bye, absent: true, state: failed } }]\n",
    /absent: not allowed together with state/,
  ],
  [
    "the time of a cassette that there is not",
    "timed: true\nturns: [{ user: Hi }]\n",
    /timed: only allowed together with cassette/,
  ],
  ["a pattern that is none", "turns: [{ user: Hi, expect: { say: /(/ } }]\n", /not a regular expression/],
])("%s in a file is a failure with its location", async (_what, yaml, message) => {
  expect(await failureOf(yaml)).toMatch(message);
});

test("a missing config is reported with the path from the file", async () => {
  const file = join(folder.path, "a.talk.yaml");
  await writeFile(file, "config: gone.ts\nturns: [{ user: Hi, model: Hello. }]\n");

  const [{ failure } = {}] = await Array.fromAsync(runScenario(file));

  expect(failure).toBe(`config: expected a config file at ${join(folder.path, "gone.ts")}, got none`);
});

const JUDGED = `turns:
  - user: Book a table
    model: I am sorry. We are full.
    expect: { judge: The agent apologises. }
`;

test.each([
  ["Yes. It says that it is sorry.", undefined],
  ["No, it does not.", "- agent: judge: The agent apologises. (No, it does not.)"],
])("a judge's answer %j decides", async (verdict, line) => {
  await using server = await startModelServer();
  server.script([reply([text(verdict)])]);
  vi.stubEnv("PARLEY_JUDGE_MODEL", "claude-judge");
  vi.stubEnv("ANTHROPIC_API_KEY", "key");
  vi.stubEnv("ANTHROPIC_BASE_URL", server.url);

  const failure = await failureOf(JUDGED);

  expect(failure?.split("\n").find((each) => each.startsWith("-"))).toBe(line);
  expect(JSON.stringify(server.requests[0]?.body)).toContain("I am sorry. We are full.");
  expect(server.rejections).toEqual([]);
});

test("a statement that nobody can judge is a failure", async () => {
  expect(await failureOf(JUDGED)).toContain("(not judged: PARLEY_JUDGE_MODEL is not set)");
});
