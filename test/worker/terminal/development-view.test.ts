import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { forFile } from "../../support/lifetimes.ts";
import { OtlpReceiver } from "../../support/servers/otlp-receiver.ts";
import { WorkerParts } from "../support/worker-parts.ts";

const parts = forFile(() => WorkerParts.start());

interface Run {
  readonly env?: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
}

/** Everything that a worker writes to stderr while it serves a turn in which one tool throws and one is not permitted. */
async function printedBy({ env, args = [] }: Run): Promise<string> {
  const worker = await parts.run({
    env: { PARLEY_CONFIG: "test/fixtures/office/parley.config.ts", LOG_LEVEL: "info", ...env },
    args,
  });
  const room = `room-${createId()}`;
  const ana = await parts.join(room, "ana");
  await ana.until(() => ana.all("configuration").length === 1, "the worker", 20_000);
  await ana.configure({ features: ["permissions"] });
  const uses = [toolUse("print", { title: "secret-argument" }), toolUse("scan", {})];
  parts.model.script([reply([text("secret-beginning."), ...uses]), reply([text("secret-answer.\u001b[31m")])]);
  const id = await ana.say("secret-words");
  const { id: permissionId } = await ana.next("permission_request");
  await ana.send({ type: "permission_response", body: { permissionId, response: "reject" } });
  await ana.answerTo(id, 20_000);
  worker.kill("SIGTERM");
  return (await worker.ended).stderr.replaceAll(room, "ROOM");
}

/** Text of participants, the model and the tools. */
const CONTENT = /secret-words|secret-beginning|secret-answer|secret-argument|no paper/u;

test("under parley start the terminal shows who said what, calls, errors with stacks, permissions, tokens and times", async () => {
  const printed = await printedBy({});

  const lines = printed.split("\n").flatMap((line) => /^\[\d\d:\d\d:\d\d\] ROOM (.*)$/u.exec(line)?.[1] ?? []);
  expect(lines).toEqual([
    "ana:   secret-words",
    "agent: secret-beginning.",
    'calls: print {"title":"secret-argument"} → execution_error: the printer has no paper',
    'asks:  scan "Use scan" → asked',
    'asks:  scan "Use scan" → rejected (ana, by data)',
    "calls: scan {} → permission_denied: Not run: the participant rejected it",
    "agent: secret-answer.\u{FFFD}[31m",
    expect.stringMatching(/^\(completed in \d+\.\d+ s, first word after \d+\.\d+ s, \d+ tokens in, \d+ tokens out\)$/u),
  ]);
  expect(printed).toMatch(
    /^\[\d\d:\d\d:\d\d\] WARN: tool threw \{.*"toolName":"print"\}\n {4}TypeError: the printer/mu,
  );
  expect(printed).toMatch(/\n {8}at .*tools\/print\.ts:8:11\)?\n/u);
  expect(printed).not.toMatch(
    /"level":|"pid":|turn ended|call ended|permission (?:requested|decided)|"event":"ready"/u,
  );
  expect(printed).not.toContain("\u001b");
}, 60_000);

test("what the development view shows is not in the logs that go to OpenTelemetry", async () => {
  await using receiver = await OtlpReceiver.start();

  const printed = await printedBy({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_METRICS_EXPORTER: "none" },
  });

  expect(printed).toMatch(CONTENT);
  expect(receiver.logs.map(({ body }) => body)).toContain("tool threw");
  expect(receiver.text).not.toMatch(CONTENT);
}, 60_000);

test.each([
  ["LOG_FORMAT is json", { env: { LOG_FORMAT: "json" } }],
  ["NODE_ENV is production", { env: { NODE_ENV: "production", LOG_FORMAT: "pretty" } }],
  ["the worker runs alone", { args: ["--worker-only"], env: { PARLEY_DEVELOPMENT: "1", LOG_FORMAT: "pretty" } }],
])(
  "no content is printed when %s",
  async (_, run) => {
    const printed = await printedBy(run);

    expect(printed).toContain("tool threw");
    expect(printed).toContain("turn ended");
    expect(printed).not.toMatch(CONTENT);
  },
  60_000,
);
