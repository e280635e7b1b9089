import { readFileSync } from "node:fs";
import { pino } from "pino";
import { beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { ATTR, CONTENT, EVENT, METRIC, OPERATION, PARLEY, SPAN, VOCABULARY } from "../../src/telemetry/names.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { guardedTool } from "../support/guarded-tool.ts";
import { httpError, reply, serverToolResult, serverToolUse, text, toolUse } from "../../src/model-server/step.ts";
import { startDelivery } from "../../src/worker/webhooks/deliver-webhooks.ts";
import { WebhookReceiver } from "../support/servers/webhook-receiver.ts";
import type { OtlpReceiver } from "../support/servers/otlp-receiver.ts";
import { EndOfTurnModel } from "../../src/speech/turn-end/end-of-turn-model.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { TelemetryAgent } from "../telemetry/telemetry-agent.ts";
import { ExportedTelemetry } from "../telemetry/exported-telemetry.ts";
import { announced } from "../support/client-tool.ts";

const page = readFileSync("docs/telemetry.md", "utf8");

/** The cells of each row in the table below a heading. */
function rows(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));
}

const named = (heading: string) => rows(heading).map(([, name = ""]) => name.replace(/ \{.*/, ""));
const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1));
const leaves = (value: unknown): string[] =>
  typeof value === "string" ? [value] : Object.values(value as object).flatMap(leaves);

const TYPE_OF: Record<string, string> = { string: "string", boolean: "boolean", number: "number", object: "string[]" };

/** The emitted telemetry, in the page's notation. */
interface Emitted {
  readonly spans: string[];
  /**
   * Each attribute as `name: type on span`. If the attribute is on a span's event, the event's name replaces the
   * span's.
   */
  readonly attributes: string[];
  /** Only the names, including those on metrics and events. */
  readonly attributeNames: string[];
  readonly metrics: string[];
  readonly events: string[];
}

function emittedBy({ spans: all, metrics, logs }: OtlpReceiver): Emitted {
  const spans = all.filter(({ scope }) => scope === "parley");
  const typed = (owner: string, attributes: Readonly<Record<string, unknown>>) =>
    Object.entries(attributes).map(([name, value]) => `${name}: ${TYPE_OF[typeof value]} on ${owner}`);
  const kindOf = (name: string) => name.split(" ")[0] ?? "";
  const records = logs.filter(({ eventName }) => eventName !== undefined && eventName !== "");
  const others = [...metrics.flatMap(({ points }) => points), ...records].map(({ attributes }) => attributes);
  const onSpans = spans.flatMap(({ name, attributes, events }) => [
    ...typed(kindOf(name), attributes),
    ...events.flatMap((event) => typed(event.name, event.attributes)),
  ]);
  return {
    spans: spans.map(({ name }) => kindOf(name)),
    attributes: onSpans,
    attributeNames: [
      ...onSpans.map((each) => each.split(":")[0] ?? ""),
      ...others.flatMap((each) => Object.keys(each)),
    ],
    metrics: metrics.map(({ name, kind, unit, description }) => `${name} ${kind} ${unit} ${description}`),
    events: [
      ...records.map(({ eventName = "" }) => eventName),
      ...spans.flatMap((each) => each.events.map(({ name }) => name)),
    ],
  };
}

/**
 * Runs a text session that triggers everything except what needs a voice, a second model, a spent budget, a hook or a
 * webhook.
 */
async function talkInText(names: string): Promise<Emitted> {
  await using talk = await TelemetryAgent.start({
    env: {
      OTEL_SEMCONV_STABILITY_OPT_IN: names,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "SPAN_AND_EVENT",
    },
    tools: { write: guardedTool().tool },
    serverTools: [{ type: "web_search_20260318", name: "web_search" }],
    effort: "low",
  });
  const { agent, receiver } = talk;
  const user = await agent.client("user", { tools: [announced("scan")], features: ["permissions"] });
  agent.model.script([
    httpError(529),
    reply([
      serverToolUse("web_search", { query: "a" }, "srvtoolu_1"),
      serverToolResult("web_search_tool_result", "srvtoolu_1", []),
      toolUse("scan"),
      toolUse("write", { path: "a" }),
    ]),
    reply([text("Done.")]),
    httpError(400),
  ]);
  await user.sendBytes(new Uint8Array([1]));
  const first = await user.say("Go");
  const scan = await user.next("tool_use_request", ({ toolName }) => toolName === "scan");
  await user.answer(scan.id, { success: true, result: {} });
  await user.answer(scan.id, { success: true, result: {} });
  const { id: permissionId } = await user.next("permission_request");
  await user.send({ type: "permission_response", body: { permissionId, response: "reject" } });
  await user.answerTo(first);
  await user.answerTo(await user.say("Fail"));
  await talk.closeTelemetry();
  return emittedBy(receiver);
}

/** Several questions, because on a busy machine a turn may end before there was time to call the model preemptively. */
const SPOKEN = ["Hello there.", "Good morning.", "How are you?"] as const;

/** A spoken session with a client that claims calls and has not announced its tools. */
async function talkByVoice(): Promise<Emitted> {
  await warmUp("Hello there.");
  const note = defineTool({ description: "N.", input: z.object({}), execution: "either", run: () => "noted" });
  await using exported = await ExportedTelemetry.start();
  const { telemetry, logger, receiver } = exported;
  await using voice = await VoiceAgent.start({
    telemetry,
    logger,
    tools: { note },
    settings: { speculate: true },
    endOfTurnModel: await EndOfTurnModel.load(),
  });
  const user = await voice.speaker("user", { features: ["claims"] });
  voice.agent.model.script([
    reply([toolUse("note")]),
    reply([text("Good.")]),
    ...SPOKEN.map(() => reply([text("Hello.")])),
  ]);
  const messageId = await user.client.say("Go");
  const { id } = await user.client.next("tool_use_request", ({ execution }) => execution === "either");
  await user.client.answer(id, { success: false, errorCode: "unknown_tool", errorMessage: "None of that name" });
  await user.client.answerTo(messageId);
  for (const words of SPOKEN) {
    voice.understand(words);
    await user.say(words);
    const said = await user.client.next("transcription", ({ final, text: heard }) => final && heard === words);
    await user.client.answerTo(said.id);
  }
  await voice.agent.leave();
  await exported.close();
  return emittedBy(receiver);
}

/** A session whose first model fails, and whose first step uses up its budget. */
async function talkOverBudget(): Promise<Emitted> {
  const prices = { "claude-test": { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } };
  const model = [{}, { name: "claude-test" }] as const;
  await using talk = await TelemetryAgent.start({
    policy: { budget: { session: { tokens: 1 } }, prices },
    agent: { model },
  });
  const { agent, receiver } = talk;
  const user = await agent.client("user");
  agent.model.script([httpError(401), reply([text("Hello.")])]);
  await user.answerTo(await user.say("Hi"));
  await user.answerTo(await user.say("Go on"));
  await talk.closeTelemetry();
  return emittedBy(receiver);
}

/** A session with a hook for its start and a webhook for its end. */
async function talkWithHookAndWebhook(): Promise<Emitted> {
  await using crm = await WebhookReceiver.start();
  await using talk = await TelemetryAgent.start({
    hasHooks: true,
    hasEndWebhook: true,
    agent: { onSessionStart: () => {} },
  });
  const { agent, telemetry, receiver } = talk;
  await agent.client("user");
  await vi.waitFor(async () => expect((await agent.sql`select from session_rooms`).count).toBe(1));
  await agent.deleteRoom();
  const { url, secret } = crm;
  const logger = pino({ level: "silent" });
  const delivery = startDelivery({ sql: agent.sql, logger, telemetry, receiver: { url, secret } });
  const delivered = () => agent.sql`select from webhooks where state = 'delivered'`;
  await vi.waitFor(async () => expect((await delivered()).count).toBe(1), { timeout: 5_000 });
  await delivery.close();
  await talk.closeTelemetry();
  return emittedBy(receiver);
}

const emitted: Emitted[] = [];
const all = (part: keyof Emitted) => sorted(emitted.flatMap((each) => each[part]));

beforeAll(async () => {
  for (const names of ["1.41", "gen_ai_latest_experimental"]) emitted.push(await talkInText(names));
  emitted.push(await talkByVoice());
  emitted.push(await talkOverBudget());
  emitted.push(await talkWithHookAndWebhook());
}, 60_000);

test("the page lists every existing name, and no other", () => {
  const words = leaves(VOCABULARY);
  const attributes = [ATTR, CONTENT, PARLEY].flatMap(leaves).concat(words.filter((name) => name.includes(".usage.")));
  const metrics = leaves(METRIC).concat(words.filter((name) => !name.includes(".usage.")));

  expect(sorted(named("Spans"))).toEqual(sorted([OPERATION, SPAN].flatMap(leaves)));
  expect(sorted(named("Attributes"))).toEqual(sorted(attributes));
  expect(sorted(named("Metrics"))).toEqual(sorted(metrics));
  expect(sorted(named("Events"))).toEqual(sorted(leaves(EVENT)));
});

test("the spans and events on the page are those that sessions emit", () => {
  expect(all("spans")).toEqual(sorted(named("Spans")));
  expect(all("events")).toEqual(sorted(named("Events")));
});

test("the attributes on the page are those that sessions emit", () => {
  expect(all("attributeNames")).toEqual(sorted(named("Attributes")));
});

test("an attribute has the type on the page, on the spans listed there", () => {
  const documented = rows("Attributes").flatMap(([, name = "", type = "", on = ""]) => {
    const kind = type.split(",")[0]?.replace(/^(int|double)$/, "number");
    return on.split(/[,;] /).map((owner) => `${name}: ${kind} on ${owner.replace(/ in .*/, "")}`);
  });

  expect(all("attributes").filter((each) => !documented.includes(each))).toEqual([]);
});

test("the metrics on the page are those that sessions emit, with their type, unit and description", () => {
  const documented = rows("Metrics").map(([, name, kind, unit, what]) => `${name} ${kind} ${unit} ${what}`);

  expect(all("metrics")).toEqual(sorted(documented));
});
