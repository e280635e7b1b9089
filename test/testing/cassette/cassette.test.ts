import "../../../src/testing/vitest.ts";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { cassette, type CassetteOptions } from "../../../src/testing/cassette/cassette.ts";
import { answer } from "../../../src/testing/device/behavior.ts";
import { startModelServer } from "../../../src/model-server/model-server.ts";
import { httpError, reply, slow, type Step, text, toolUse } from "../../../src/model-server/step.ts";
import { startTalk } from "../../../src/testing/start-talk.ts";
import type { Turn } from "../../../src/testing/turn.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { tableAgent } from "../table-agent.ts";

const folder = forEachTest(() => tempFolder());
const file = () => join(folder.path, "where.cassette.json");
/** An API key whose format matches no known one. */
const KEY = "very-secret-key-of-a-gateway";

afterEach(() => vi.unstubAllEnvs());

interface Spoken extends CassetteOptions {
  readonly say?: string;
  readonly city?: string;
  readonly instructions?: string;
}

async function talkOnce({
  say = "Where am I?",
  city = "Paris",
  instructions = "Be brief.",
  ...options
}: Spoken = {}): Promise<Turn> {
  const config = { ...tableAgent.config, instructions };
  await using talk = await startTalk({ ...tableAgent, config, model: cassette(file(), options) });
  talk.device({ tools: { get_location: answer({ city }) } });
  return await talk.say(say);
}

/** Records a session with a real endpoint. */
async function record(steps: readonly Step[], spoken: Spoken = {}): Promise<Turn> {
  await using server = await startModelServer({ apiKey: KEY });
  server.script(steps);
  vi.stubEnv("PARLEY_RECORD", "1");
  vi.stubEnv("ANTHROPIC_API_KEY", KEY);
  vi.stubEnv("ANTHROPIC_BASE_URL", server.url);
  const turn = await talkOnce(spoken);
  vi.unstubAllEnvs();
  return turn;
}

const asksWhere = [reply([text("Let me see."), toolUse("get_location")]), reply([text("You are in Paris.")])];

test("a recorded session is replayed without the model", async () => {
  const recorded = await record(asksWhere);

  const played = await talkOnce();

  expect(played.text).toBe(recorded.text);
  expect(played).toHaveCalled("get_location", {}, { result: { city: "Paris" } });
  expect(played).toSay("You are in Paris.");
});

test.each([
  [
    "words",
    { say: "Where are we?" },
    'call 1 differs from the one in where.cassette.json: messages[0].content[0].text: recorded "Where am I?", now "Where are we?"',
  ],
  [
    "an answer of a tool",
    { city: "Rome" },
    "call 2 differs from the one in where.cassette.json: messages[2].content[0].content: recorded",
  ],
  ["instructions", { instructions: "Be long." }, "call 1 differs from the one in where.cassette.json: system[0].text"],
])("different %s are reported as the first difference", async (_what, spoken, difference) => {
  await record(asksWhere);

  await expect(talkOnce(spoken)).rejects.toThrow(difference);
});

test("one call more than recorded is reported", async () => {
  await record(asksWhere);
  await using talk = await startTalk({ ...tableAgent, model: cassette(file()) });
  talk.device({ tools: { get_location: answer({ city: "Paris" }) } });
  await talk.say("Where am I?");

  await expect(talk.say("And now?")).rejects.toThrow("where.cassette.json has 2 calls, but the agent made one more");
});

test("recorded calls that are not made are counted", async () => {
  await record(asksWhere);
  await using talk = await startTalk({ ...tableAgent, model: cassette(file()) });

  expect(talk.repliesLeft).toBe(2);
});

test("an error from the API is recorded, too", async () => {
  await record([httpError(400)]);

  expect(await talkOnce()).toMatchObject({ state: "failed" });
});

test("a cassette contains neither the key nor anything that looks like personal data", async () => {
  const words = "Ann lives here: ann@example.com, +49 30 1234567, 4111 1111 1111 1111, DE89370400440532013000.";
  await record([reply([text(`You wrote ${words}`)], { chunking: 5 })], { say: words, redact: [/\bAnn\b/] });

  const stored = await readFile(file(), "utf8");

  expect(stored).not.toMatch(/very-secret|x-api-key|ann@|1234567|4111|DE89|Ann/);
  expect(stored).toContain("You wrote <redacted> lives here: <email>, <phone>, <card>, <iban>.");
  const played = await talkOnce({ say: words, redact: [/\bAnn\b/] });
  expect(played).toSay("<redacted> lives here: <email>");
});

test("numbers that are not personal data stay", async () => {
  const words = "Order 1234567890123 of 2026-11-22 at 10:30 costs 1,299.00";
  await record([reply([text(words)], { chunking: 100 })]);

  expect(await readFile(file(), "utf8")).toContain(words);
});

test("events are delayed as recorded if requested", async () => {
  await record([reply([text("A slow answer.")], slow(40))]);

  const [timed, atOnce] = [await talkOnce({ isTimed: true }), await talkOnce()];

  expect(timed.ms).toBeGreaterThan(150);
  expect(atOnce.ms).toBeLessThan(timed.ms);
});

test("without a cassette, the test says how to record one", async () => {
  await expect(talkOnce()).rejects.toThrow(
    /The cassette .*where\.cassette\.json does not exist: to record it, .*PARLEY_RECORD=1/,
  );
});

test("recording without a key reports what is missing", async () => {
  vi.stubEnv("PARLEY_RECORD", "1");
  vi.stubEnv("ANTHROPIC_API_KEY", "");
  vi.stubEnv("ANTHROPIC_BASE_URL", "");

  await expect(talkOnce()).rejects.toThrow("ANTHROPIC_API_KEY: expected a value");
});

test("a key that the API repeats in its refusal is not recorded", async () => {
  await record([{ ...httpError(401), message: `invalid key ${KEY}` } as Step]);

  expect(await readFile(file(), "utf8")).toContain("invalid key <secret>");
});

test.each([
  ["a status that HTTP does not have", { status: 99_999 }],
  ["an event that never comes", { events: [{ ms: 1e12, event: { type: "ping" } }] }],
  ["an event before its request", { events: [{ ms: -1, event: { type: "ping" } }] }],
])("a cassette with %s is refused", async (_what, wrong) => {
  const call = { path: "/v1/messages", request: {}, status: 200, body: {}, ...wrong };
  await writeFile(file(), JSON.stringify({ version: 1, calls: [call] }));

  await expect(talkOnce()).rejects.toThrow("not a cassette of this version");
});

test("a file that is not a cassette is refused", async () => {
  await writeFile(file(), "{}");

  await expect(talkOnce()).rejects.toThrow("not a cassette of this version");
});
