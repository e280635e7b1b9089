import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const env = { PARLEY_CONFIG: "test/fixtures/throws/parley.config.ts" };

/** The log lines of a worker in which three tools have thrown. */
async function logOfThrowingTools() {
  await using parts = await WorkerParts.start();
  const worker = await parts.run({ env });
  const user = await parts.join(`room-${createId()}`, "user");
  await user.until(() => user.all("configuration").length === 1, "the worker", 20_000);
  await user.configure({});
  const uses = ["print", "scan", "shred"].map((name) => toolUse(name, {}));
  parts.model.script([reply(uses), reply([text("Nothing works.")])]);
  await user.answerTo(await user.say("Print, scan and shred it"), 20_000);
  worker.kill("SIGTERM");
  const { stderr } = await worker.ended;
  const lines = stderr.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LogLine] : []));
  return lines.filter(({ msg }) => msg === "tool threw").toSorted((a, b) => a.toolName.localeCompare(b.toolName));
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

/** Matches a stack trace whose first location is in this file. */
const isIn = (file: string) => expect.stringMatching(new RegExp(`^at .*/tools/${file}:`)) as string;

test("under parley start the log contains what a tool threw, with its first own location, even for isolated tools", async () => {
  const lines = await logOfThrowingTools();

  expect(lines).toMatchObject([
    { toolName: "print", error: { type: "TypeError", message: "the printer has no paper" } },
    {
      toolName: "scan",
      error: {
        type: "TypeError",
        message: "the scanner is closed",
        cause: { type: "RangeError", code: "ENOLID", message: "no lid" },
      },
    },
    { toolName: "shred", error: { type: "string", message: "the shredder is full" } },
  ]);
  expect(lines.flatMap(({ error }) => [error.at?.[0], error.cause?.at?.[0]])).toEqual([
    isIn("print.ts"),
    undefined,
    isIn("scan.ts"),
    isIn("scan.ts"),
    undefined,
    undefined,
  ]);
}, 60_000);
