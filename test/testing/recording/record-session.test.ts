import { readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { expect, inject, test } from "vitest";
import { parse, stringify } from "yaml";
import { createId } from "../../../src/lib/id.ts";
import { answer, type Behaviors, late, never, throws, twice } from "../../../src/testing/device/behavior.ts";
import { readCassette } from "../../../src/testing/cassette/cassette-file.ts";
import { scripted, type ScriptedReply } from "../../../src/testing/model/scripted.ts";
import { recordSession } from "../../../src/testing/recording/record-session.ts";
import { loadAgent } from "../../../src/testing/load-agent.ts";
import { runScenario } from "../../../src/testing/scenario/run-scenario.ts";
import { writeScenario } from "../../../src/scenario/write-scenario.ts";
import { loadSession } from "../../../src/store/sessions/sessions.ts";
import { startTalk } from "../../../src/testing/start-talk.ts";
import type { PermissionAnswer } from "../../../src/testing/talk.ts";
import { reply, text } from "../../../src/model-server/step.ts";
import { TestAgent } from "../../support/agent.ts";
import { createRandom } from "../../support/doubles/fake-room.ts";
import { forFile } from "../../support/lifetimes.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const database = forFile(tempDatabase);
const folder = forFile(() => tempFolder());
const config = resolve("test/fixtures/testing/parley.config.ts");

interface StoredTurn {
  readonly say: string;
  readonly model: readonly ScriptedReply[];
  readonly device?: Readonly<Record<string, Behaviors>>;
  readonly permission?: PermissionAnswer;
}

/** Runs a session in a real room, and creates a test from the stored record. */
async function recordTalk(turns: readonly StoredTurn[]) {
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  await using talk = await startTalk({
    config,
    model: scripted(turns.flatMap(({ model }) => model)),
    room: { livekit, databaseUrl: database.url },
  });
  for (const { say, device = {}, permission = "approve" } of turns) {
    talk.device({ tools: device });
    talk.permission(permission);
    await talk.say(say);
  }
  await talk.close();
  const [session] = await database.sql<{ room: string }[]>`select room from sessions order by created_at desc limit 1`;
  const room = String(session?.room);
  const file = join(folder.path, `${room}.talk.yaml`);
  return { ...(await recordSession({ databaseUrl: database.url, room, config, file })), file, room };
}

async function failureOf(file: string): Promise<string | undefined> {
  const [run] = await Array.fromAsync(runScenario(file));
  return run?.failure;
}

/** Returns how many ms the test in a file takes. The test must pass. */
async function timeOf(file: string): Promise<number> {
  const [run] = await Array.fromAsync(runScenario(file));
  expect(run?.failure).toBeUndefined();
  return run?.ms ?? 0;
}

const books: readonly ScriptedReply[] = [{ say: "One moment.", use: { book: { city: "Paris" } } }, "Done."];

test("a stored session becomes a test that passes", async () => {
  const { file, turns, endsBecause } = await recordTalk([
    { say: "Hi, I am ann@example.com", model: ["Hello!"] },
    {
      say: "Where am I?",
      model: [{ use: { get_location: {} } }, "In Paris."],
      device: { get_location: answer({ street: "Rue A", city: "Paris" }) },
    },
    { say: "Book!", model: books },
    { say: "Another!", model: books, permission: "reject" },
  ]);

  expect([turns, endsBecause]).toEqual([4, undefined]);
  expect(await failureOf(file)).toBeUndefined();
  const written = await readFile(file, "utf8");
  expect(written).not.toContain("ann@");
  expect(parse(written)).toMatchObject({
    mocks: { book: [{ answer: { booked: "Paris" } }] },
    turns: [
      { user: "Hi, I am <email>", expect: [{ say: "Hello!" }] },
      { user: "Where am I?", expect: [{ calls: [{ name: "get_location", args: {} }] }, { say: "In Paris." }] },
      { user: "Book!", permission: { book: "approve" } },
      { user: "Another!", permission: { book: "reject" } },
    ],
  });
});

/** Runs a session in a room, with an agent that greets. The participant's name differs from the one that tests use. */
async function recordGreeted(greeting: string | { ask: string }, replies: readonly string[]) {
  const greeted = join(folder.path, `${createId()}.config.ts`);
  const values = { instructions: "Be brief.", greeting, toolsFolder: resolve("test/fixtures/testing/tools") };
  await writeFile(greeted, `export default ${JSON.stringify(values)};`);
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  await using talk = await startTalk({
    config: greeted,
    identity: "ana",
    model: scripted(replies),
    room: { livekit, databaseUrl: database.url },
  });
  await talk.nextTurn();
  await talk.say("A table, please");
  await talk.close();
  const [session] = await database.sql<{ id: string; room: string }[]>`
    select id, room from sessions order by created_at desc limit 1
  `;
  const { id: sessionId = "", room = "" } = session ?? {};
  const file = join(folder.path, `${room}.talk.yaml`);
  const recorded = await recordSession({ databaseUrl: database.url, room, config: greeted, file });
  const written = await writeScenario(database.sql, { sessionId, room, tools: new Map() });
  // The test that the page saves does not name a config, so the path of the agent's config is added.
  const yaml = "yaml" in written ? stringify({ ...(parse(written.yaml) as object), config: basename(greeted) }) : "";
  return { recorded, file, yaml };
}

test("a session that the agent started with a fixed greeting becomes a test that passes", async () => {
  const { recorded, file, yaml } = await recordGreeted("Hello, what can I do?", ["For how many?"]);

  expect(recorded).toMatchObject({ turns: 2, endsBecause: undefined });
  expect(await failureOf(file)).toBeUndefined();
  expect(parse(await readFile(file, "utf8"))).toMatchObject({
    turns: [
      { expect: [{ say: "Hello, what can I do?" }] },
      { user: "A table, please", expect: [{ say: "For how many?" }] },
    ],
  });
  await writeFile(file, yaml);
  expect(await failureOf(file)).toBeUndefined();
});

test("a greeting written by the model is replayed from the cassette and from the YAML", async () => {
  const { recorded, file, yaml } = await recordGreeted({ ask: "Say hello." }, ["Hello!", "For how many?"]);

  expect(recorded).toMatchObject({ turns: 2, endsBecause: undefined });
  expect(await failureOf(file)).toBeUndefined();
  await writeFile(file, yaml);
  expect(await failureOf(file)).toBeUndefined();
});

test("a device that was silent is silent again, and one for another tool takes its time", async () => {
  const lamp = [never({ timeoutMs: 60 }), answer({ on: true })];
  const { file } = await recordTalk([
    { say: "Where am I?", model: [{ use: { get_location: {} } }, "I do not know."], device: { get_location: never() } },
    { say: "Light!", model: [{ use: { lamp: {} } }, { use: { lamp: {} } }, "It shines."], device: { lamp } },
  ]);

  expect(await failureOf(file)).toBeUndefined();
  expect(parse(await readFile(file, "utf8"))).toMatchObject({
    device: { get_location: [{ never: true }], lamp: [{ never: true, timeout_ms: 60 }, { answer: { on: true } }] },
  });
});

test("a tool that took a while takes as long again, and one that answered immediately does not", async () => {
  const { file } = await recordTalk([
    {
      say: "Where?",
      model: [{ use: { get_location: {} } }, "In Paris."],
      device: { get_location: late(400, "Paris") },
    },
    { say: "And now?", model: [{ use: { get_location: {} } }, "In Rome."], device: { get_location: answer("Rome") } },
  ]);

  const { device } = parse(await readFile(file, "utf8")) as { device: { get_location: { late?: number }[] } };
  const [slow, quick] = device.get_location;
  expect(slow?.late).toBeGreaterThanOrEqual(400);
  expect(quick).toMatchObject({ answer: { value: "Rome" } });
  // On a busy machine, even an answer without a delay takes a while.
  expect(quick?.late ?? 0).toBeLessThan(400);
  const startedAt = performance.now();
  expect(await failureOf(file)).toBeUndefined();
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(400);
});

test("a test includes the model's own time, without that of the tools", async () => {
  const { cassette, file, room } = await recordTalk([
    {
      say: "Where?",
      model: [{ use: { get_location: {} } }, { say: "In Paris it is.", afterMs: 400 }],
      device: { get_location: late(1_500, "Paris") },
    },
  ]);

  const [first, second] = (await readCassette(cassette)).map(({ events = [] }) => events.map(({ ms }) => ms));
  expect(Math.max(...(first ?? []))).toBeLessThan(1_500);
  const took = Math.max(...(second ?? []));
  expect(took).toBeGreaterThanOrEqual(400);
  expect(took).toBeLessThan(1_500);
  expect(parse(await readFile(file, "utf8"))).toMatchObject({ timed: true });
  const script = await scriptOf(room, join(folder.path, `${room}.script.talk.yaml`));
  const { turns } = parse(await readFile(script, "utf8")) as { turns: { model: { late?: number }[] }[] };
  expect(turns[0]?.model[1]?.late).toBe(took);
  // The test waits for the device for 1.2 s, as long as the agent did. After that, the model takes 400 ms.
  expect(await timeOf(file)).toBeGreaterThanOrEqual(1_600);
  expect(await timeOf(script)).toBeGreaterThanOrEqual(1_600);
});

test("a test from a stored session detects when the agent behaves differently", async () => {
  const { file, cassette } = await recordTalk([{ say: "Book!", model: books }]);
  await writeFile(file, (await readFile(file, "utf8")).replace("booked: Paris", "booked: Rome"));

  expect(await failureOf(file)).toContain("messages[2].content[0].content: recorded");
  expect(cassette).toMatch(/\.cassette\.json$/);
});

test("the test ends before somebody else joins the conversation", async () => {
  await using agent = await TestAgent.start();
  agent.model.script(["Hello.", "Hello, too.", "Again."].map((words) => reply([text(words)])));
  for (const identity of ["ann", "ben", "ann"]) {
    const user = await agent.client(identity);
    await user.answerTo(await user.say(`I am ${identity}`));
    await user.leave();
  }
  await agent.leave();
  const file = join(folder.path, "several.talk.yaml");

  const recorded = await recordSession({ databaseUrl: agent.databaseUrl, room: agent.roomName, config, file });

  expect(recorded).toMatchObject({
    turns: 1,
    endsBecause: "turn 2 is left out: several participants had part in the talk",
  });
  expect(await failureOf(file)).toBeUndefined();
});

const cities = ["Paris", "Rome", "/srv/data/", "München", 'a "quoted" one'];

/** Generates a session with up to four turns, always the same for the same seed. */
function anyTalk(seed: number): StoredTurn[] {
  const random = createRandom(seed);
  const pick = <Thing>(things: readonly Thing[]) => things[Math.floor(random() * things.length)] as Thing;
  return Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => {
    const city = pick(cities);
    const device = pick([
      answer({ zone: 2, at: { y: 1, x: city } }),
      answer(city),
      throws("No signal", { code: "off" }),
      twice({ city }),
    ]);
    const steps: readonly ScriptedReply[] = [
      { use: { get_location: {} } },
      { say: `I try ${city}.`, use: { book: { city } } },
      { use: [{ book: { city } }, { get_location: {} }] },
      { use: { nonsense: { a: 1 } } },
    ];
    const used = Array.from({ length: Math.floor(random() * 3) }, () => pick(steps));
    const permission = pick<PermissionAnswer>(["approve", "reject", "always"]);
    return {
      say: `Turn ${index}: ${city}`,
      model: [...used, `So ${city} it is.`],
      device: { get_location: device },
      permission,
    };
  });
}

/** Writes the same session as a test in a single file, which contains the model's replies. */
async function scriptOf(room: string, file: string): Promise<string> {
  const session = await loadSession(database.sql, { conversationId: room });
  const { tools } = await loadAgent({ config });
  const written = await writeScenario(database.sql, { sessionId: session?.id ?? "", room, tools });
  const scenario = parse("yaml" in written ? written.yaml : "") as object;
  await writeFile(file, stringify({ ...scenario, config }));
  return file;
}

test("whatever the session was, its test finds no difference", { timeout: 600_000 }, async () => {
  for (let index = 0; index < propertyRuns(4); index++) {
    const talk = anyTalk(propertySeed() + index);
    const { file, room } = await recordTalk(talk);
    expect({ talk, failure: await failureOf(file) }).toEqual({ talk, failure: undefined });
    const script = await scriptOf(room, join(folder.path, `${room}.script.talk.yaml`));
    expect({ talk, failure: await failureOf(script) }).toEqual({ talk, failure: undefined });
  }
});
