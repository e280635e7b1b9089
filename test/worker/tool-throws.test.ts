import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { WorkerParts } from "./support/worker-parts.ts";

/** The log lines of a worker in which three tools have thrown, and its whole log. */
async function logOfThrowingTools(own: NodeJS.ProcessEnv) {
  await using parts = await WorkerParts.start();
  const worker = await parts.run({ env: { PARLEY_CONFIG: "test/fixtures/throws/parley.config.ts", ...own } });
  const user = await parts.join(`room-${createId()}`, "user");
  await user.until(() => user.all("configuration").length === 1, "the worker", 20_000);
  await user.configure({});
  const uses = ["print", "scan", "shred"].map((name) => toolUse(name, {}));
  parts.model.script([reply(uses), reply([text("Nothing works.")])]);
  await user.answerTo(await user.say("Print, scan and shred it"), 20_000);
  worker.kill("SIGTERM");
  const { stderr } = await worker.ended;
  const lines = stderr.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LogLine] : []));
  const thrown = lines.filter(({ msg }) => msg === "tool threw");
  return { thrown: thrown.toSorted((a, b) => a.toolName.localeCompare(b.toolName)), stderr };
}

interface Described {
  readonly at?: readonly string[];
  readonly cause?: Described;
}

interface LogLine {
  readonly msg: string;
  readonly toolName: string;
  readonly error: Described;
}

/** Matches a stack location in this file. */
const isIn = (file: string) => expect.stringMatching(new RegExp(`^at .*/tools/${file}:\\d+:\\d+`)) as string;
const MESSAGES = /no paper|scanner is closed|no lid|shredder is full/u;

test("operators' logs contain the type and the first own location of what a tool threw, even for isolated tools", async () => {
  const { thrown, stderr } = await logOfThrowingTools({ LOG_FORMAT: "json" });

  expect(thrown.map(({ error }) => error)).toEqual([
    { type: "TypeError", at: [isIn("print.ts")] },
    {
      type: "TypeError",
      at: [isIn("scan.ts")],
      cause: { type: "RangeError", code: "ENOLID", at: [isIn("scan.ts")] },
    },
    { type: "string" },
  ]);
  expect(stderr).not.toMatch(MESSAGES);
}, 60_000);

test("with LOG_LEVEL=debug operators' logs contain the whole stack, without the message", async () => {
  const { thrown, stderr } = await logOfThrowingTools({ LOG_FORMAT: "json", LOG_LEVEL: "debug" });

  expect(thrown[0]?.error.at?.length).toBeGreaterThan(1);
  expect(stderr).not.toMatch(MESSAGES);
}, 60_000);

test("in development the terminal shows the messages and stacks of what tools threw, and their causes", async () => {
  const { stderr } = await logOfThrowingTools({});

  expect(stderr).toMatch(/^ {4}TypeError: the printer has no paper\n {8}at .*print\.ts:8:11/mu);
  expect(stderr).toMatch(
    /^ {4}TypeError: the scanner is closed\n {8}at .*scan\.ts:10:11[^]*?\n {4}caused by:\n {4}RangeError: no lid\n {8}at /mu,
  );
  expect(stderr).toMatch(/^ {4}the shredder is full$/mu);
}, 60_000);
