import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ATTR, CONTENT, EVENT, METRIC, OPERATION, PARLEY, SPAN, VOCABULARY } from "../../src/telemetry/names.ts";
import { toolUse, reply, text } from "../support/model-server/step.ts";
import { httpError } from "../support/model-server/step.ts";
import { WatchedTalk } from "../telemetry/watched-talk.ts";

const page = readFileSync("docs/telemetry.md", "utf8");

/** The rows of the table below a heading, as cells. */
function rows(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));
}

const named = (heading: string) => rows(heading).map(([, name = ""]) => name.replace(/ \{.*/, ""));
const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1));
const leaves = (value: unknown): string[] =>
  typeof value === "string" ? [value] : Object.values(value as object).flatMap(leaves);

test("the page lists every name that there is, and no other", () => {
  const words = leaves(VOCABULARY);
  const attributes = [ATTR, CONTENT, PARLEY].flatMap(leaves).concat(words.filter((name) => name.includes(".usage.")));
  const metrics = leaves(METRIC).concat(words.filter((name) => !name.includes(".usage.")));

  expect(sorted(named("Spans"))).toEqual(sorted([OPERATION, SPAN].flatMap(leaves)));
  expect(sorted(named("Attributes"))).toEqual(sorted(attributes));
  expect(sorted(named("Metrics"))).toEqual(sorted(metrics));
  expect(sorted(named("Events"))).toEqual(sorted(leaves(EVENT)));
});

const TYPE_OF: Record<string, string> = { string: "string", boolean: "boolean", number: "number", object: "string[]" };

test.each(["1.41", "gen_ai_latest_experimental"])(
  "what a run emits is on the page, with its type and unit (%s)",
  async (names) => {
    await using talk = await WatchedTalk.start({
      env: {
        OTEL_SEMCONV_STABILITY_OPT_IN: names,
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "SPAN_AND_EVENT",
      },
    });
    const { agent, receiver } = talk;
    const scan = { name: "scan", description: "D.", inputSchema: { type: "object" } };
    const user = await agent.client("user", { tools: [scan] });
    agent.model.script([httpError(529), reply([toolUse("scan")]), reply([text("Done.")]), httpError(400)]);
    const first = await user.say("Go");
    const request = await user.next("tool_use_request");
    await user.answer(request.id, { success: true, result: {} });
    await user.answer(request.id, { success: true, result: {} });
    await user.answerTo(first);
    await user.answerTo(await user.say("Fail"));
    await user.sendBytes(new Uint8Array([1]));
    await talk.end();

    const spans = receiver.spans.filter(({ scope }) => scope === "parley");
    const typeOf = new Map(rows("Attributes").map(([, name = "", type = ""]) => [name, type.split(",")[0]]));
    const used = spans.flatMap(({ attributes, events }) => [attributes, ...events.map((each) => each.attributes)]);
    for (const [name, value] of used.flatMap((each) => Object.entries(each))) {
      const type = typeOf.get(name)?.replace(/^(int|double)$/, "number");
      expect(`${name}: ${type}`).toBe(`${name}: ${TYPE_OF[typeof value]}`);
    }
    expect(
      sorted(spans.map(({ name }) => name.split(" ")[0] ?? "")).filter((name) => !named("Spans").includes(name)),
    ).toEqual([]);
    const metricOf = new Map(rows("Metrics").map(([, name = "", kind = "", unit = ""]) => [name, `${kind} ${unit}`]));
    const emitted = receiver.metrics.map(({ name, kind, unit }) => `${name} ${kind} ${unit}`);
    expect(emitted).toEqual(receiver.metrics.map(({ name }) => `${name} ${metricOf.get(name)}`));
    expect(receiver.metrics.length).toBeGreaterThan(8);
    const events = [
      ...receiver.logs.map(({ eventName }) => eventName ?? ""),
      ...spans.flatMap((each) => each.events.map(({ name }) => name)),
    ];
    expect(sorted(events.filter(Boolean))).toEqual(sorted(named("Events")));
  },
);
