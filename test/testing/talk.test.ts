import "../../src/testing/vitest.ts";
import { expect, test } from "vitest";
import { z } from "zod";
import { answer, late, leave, never, throws, twice } from "../../src/testing/device/behavior.ts";
import { scripted } from "../../src/testing/model/scripted.ts";
import { reply, slow, text } from "../../src/model-server/step.ts";
import { startTalk } from "../../src/testing/start-talk.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { tableAgent } from "./table-agent.ts";

const asksWhere = [{ say: "Let me see.", use: { get_location: {} } }, "You are there."];
const books = [{ use: { book: { city: "Paris" } } }, "That is that."];

test("an answer contains what the model said", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(["Hello! How are you?"]) });

  const turn = await talk.say("Hi");

  expect(turn).toSay("Hello! How are you?");
  expect(turn).toMatchObject({ said: "Hi", state: "completed", calls: [], asked: [] });
});

test("the model is shown the earlier turns", async () => {
  const seen: unknown[] = [];
  const model = scripted(({ body }) => {
    seen.push(body["messages"]);
    return "Yes.";
  });
  await using talk = await startTalk({ ...tableAgent, model });

  await talk.say("One");
  await talk.say("Two");

  expect(seen.map((messages) => (messages as unknown[]).length)).toEqual([1, 3]);
});

test("a device's tool receives the model's arguments, and the model its answer", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(asksWhere) });
  talk.device({ tools: { get_location: answer({ city: "Paris" }) } });

  const turn = await talk.say("Where am I?");

  expect(turn).toHaveCalled("get_location", {}, { ranOn: "client", result: { city: "Paris" } });
  expect(turn).toSay(/see\. You are there/);
});

test("a list contains an answer for each call", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted([...asksWhere, ...asksWhere]) });
  talk.device({ tools: { get_location: [answer({ city: "Paris" }), answer({ city: "Rome" })] } });

  const [one, two] = [await talk.say("Where am I?"), await talk.say("And now?")];

  expect(one).toHaveCalled("get_location", {}, { result: { city: "Paris" } });
  expect(two).toHaveCalled("get_location", {}, { result: { city: "Rome" } });
});

test.each([
  ["never answers", never(), { state: "error", errorCode: "timeout" }],
  ["answers too late", late(1_300), { state: "error", errorCode: "timeout" }],
  ["answers twice", twice({ city: "Paris" }), { state: "success", result: { city: "Paris" } }],
  ["fails", throws("No signal", { code: "no_signal" }), { state: "error", errorCode: "no_signal" }],
])("a device that %s", async (_what, behavior, fields) => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(asksWhere) });
  talk.device({ tools: { get_location: behavior } });

  expect(await talk.say("Where am I?")).toHaveCalled("get_location", {}, fields);
});

test("a device that leaves and comes back answers after its return", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(asksWhere) });
  talk.device({ tools: { get_location: leave({ backAfterMs: 20, value: { city: "Paris" } }) } });

  const turn = await talk.say("Where am I?");

  expect(turn).toHaveCalled("get_location", {}, { result: { city: "Paris" } });
  expect(turn).toSay("You are there.");
});

test("a tool that exists only on the device has the timeout that the device announces", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted([{ use: { lamp: {} } }, "Dark."]) });
  talk.device({ tools: { lamp: never({ timeoutMs: 50 }) } });

  expect(await talk.say("Light!")).toHaveCalled("lamp", {}, { errorMessage: /timeout of 50ms/ });
});

test("a test can shorten the agent's timeout for a tool, on the device and on the server", async () => {
  const long = { description: "Takes long.", input: z.object({}), timeoutMs: 30_000 };
  const tools = {
    scan: defineTool({ ...long, execution: "client" }),
    count: defineTool({ ...long, run: () => ({ count: 2 }) }),
  };
  const model = scripted([{ use: { scan: {} } }, "No scan.", { use: { count: {} } }, "No count."]);
  const mocks = { count: never({ timeoutMs: 60 }) };
  await using talk = await startTalk({ config: { instructions: "Be brief." }, tools, model, mocks });
  talk.device({ tools: { scan: never({ timeoutMs: 50 }) } });

  expect(await talk.say("Scan!")).toHaveCalled("scan", {}, { errorMessage: /timeout of 50ms/ });
  expect(await talk.say("Count!")).toHaveCalled("count", {}, { errorMessage: /timeout of 60ms/ });
});

test("a device's tool that replaces one with its own timeout gets the agent's timeout again", async () => {
  const scan = defineTool({ description: "Scans.", input: z.object({}), timeoutMs: 30_000, execution: "client" });
  const model = scripted([{ use: { scan: {} } }, "Scanned."]);
  await using talk = await startTalk({ config: { instructions: "Be brief." }, tools: { scan }, model });
  talk.device({ tools: { scan: never({ timeoutMs: 50 }) } });
  talk.device({ tools: { scan: late(200, { page: 1 }) } });

  expect(await talk.say("Scan!")).toHaveCalled("scan", {}, { result: { page: 1 } });
});

test("the device announces a tool that the agent does not know", async () => {
  const model = scripted([{ use: { lamp: { on: true } } }, "It shines."]);
  await using talk = await startTalk({ ...tableAgent, model });
  talk.device({ tools: { lamp: answer((input) => ({ was: input }), { description: "Switches the lamp." }) } });

  expect(await talk.say("Light!")).toHaveCalled("lamp", { on: true }, { result: { was: { on: true } } });
});

test.each([
  ["approve", "approved", "success"],
  ["always", "approved", "success"],
  ["reject", "rejected", "error"],
] as const)("a permission is answered with %s", async (given, state, callState) => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(books) });
  talk.permission(given);

  const turn = await talk.say("Book a table");

  expect(turn).toHaveAsked("book", { title: "Book a table in Paris", state });
  expect(turn).toHaveCalled("book", { city: "Paris" }, { state: callState });
});

test("a failed call does not match an expected call, unless the test expects its outcome", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(books), mocks: { book: throws("No network") } });
  talk.permission("approve");

  const turn = await talk.say("Book a table");

  expect(() => expect(turn).toHaveCalled("book")).toThrow("No network");
  expect(() => expect(turn).not.toHaveCalled("book")).toThrow("expected not a call book");
  expect(turn).toHaveCalled("book", {}, { errorMessage: /No network/ });
});

test("a participant with a grant is not asked again", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted([...books, ...books]) });
  talk.permission("always", { tool: "book" });

  await talk.say("Book a table");

  expect(await talk.say("Another one")).not.toHaveAsked("book");
});

test("the model is shown the message with a rejection", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(books) });
  talk.permission("reject", { message: "Paris is too far." });

  expect(await talk.say("Book a table")).toHaveCalled("book", {}, { errorMessage: /too far/ });
});

test("a permission can be given in words", async () => {
  const config = { ...tableAgent.config, permission: { byVoice: true } };
  await using talk = await startTalk({ ...tableAgent, config, model: scripted(books) });
  talk.permission({ say: "yes" });

  expect(await talk.say("Book a table")).toHaveCalled("book", {}, { result: { booked: "Paris" } });
});

test("a question that the test does not answer fails it immediately, and says how to answer", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(books) });

  await expect(talk.say("Book a table")).rejects.toThrow(/book asked .*"Book a table in Paris".*talk\.permission\(/);
});

const slowly = reply([text("One moment, I am thinking about it.")], { ...slow(30), chunking: 5 });

test("an answer can be stopped", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted([slowly]) });
  const saying = talk.say("Hi");

  await expect.poll(() => talk.turns[0]?.state).toBe("running");
  talk.stop();

  expect(await saying).toMatchObject({ state: "cancelled" });
});

test("words spoken over an answer interrupt it if the config says so", async () => {
  const config = { ...tableAgent.config, onNewMessage: "interrupt" as const };
  await using talk = await startTalk({ ...tableAgent, config, model: scripted([slowly, "Yes?"]) });
  const saying = talk.say("Hi");
  await expect.poll(() => talk.turns[0]?.state).toBe("running");

  const next = await talk.say("Wait!");

  expect(await saying).toMatchObject({ state: "interrupted" });
  expect(next).toSay("Yes?");
});

test("an outcome that its turn did not wait for arrives in a separate turn", async () => {
  const model = scripted([{ use: { print: {} } }, "It prints.", "It has two pages."]);
  await using talk = await startTalk({ ...tableAgent, model });

  const turn = await talk.say("Print the menu");
  const next = await talk.nextTurn();

  expect(turn).toSay("It prints.");
  expect(next).toMatchObject({ said: undefined, text: "It has two pages." });
});

test("a mocked tool still asks for permission, and does not run", async () => {
  const mocks = { book: answer({ booked: "nothing" }) };
  await using talk = await startTalk({ ...tableAgent, mocks, model: scripted(books) });
  talk.permission("approve");

  const turn = await talk.say("Book a table");

  expect(turn).toHaveAsked("book");
  expect(turn).toHaveCalled("book", {}, { result: { booked: "nothing" } });
});

test("a mock of a tool that the agent does not have is refused", async () => {
  const starting = startTalk({ ...tableAgent, mocks: { bok: answer() }, model: scripted([]) });

  await expect(starting).rejects.toThrow("mocks.bok: the agent has no such tool");
});

test("a script that is too short fails the test, and shows the turn", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(asksWhere.slice(0, 1)) });
  talk.device({ tools: { get_location: answer({ city: "Paris" }) } });

  await expect(talk.say("Where am I?")).rejects.toThrow(
    /The script has 1 replies, but the agent asked the model for one more\nuser: {2}Where am I\?\ncalls: get_location \{\} on the device/,
  );
});

test("a turn that takes too long fails the test, and shows its progress", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(asksWhere) });
  talk.device({ tools: { get_location: never() } });

  await expect(talk.say("Where am I?", { withinMs: 1_000 })).rejects.toThrow(
    /The turn of "Where am I\?" did not end within 1000 ms:[^]*get_location \{\} on the device → running/,
  );
});

test("unused replies are counted", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(["Hello.", "Never said."]) });

  await talk.say("Hi");

  expect(talk.repliesLeft).toBe(1);
});

test("a matcher that fails shows the whole turn", async () => {
  await using talk = await startTalk({ ...tableAgent, model: scripted(books) });
  talk.permission("approve");
  const turn = await talk.say("Book a table");

  expect(() => expect(turn).toHaveCalled("book", { city: "Rome" })).toThrow(
    [
      'expected a call book {"city":"Rome"}. The turn was:',
      "user:  Book a table",
      'calls: book {"city":"Paris"} → {"booked":"Paris"}',
      'asks:  book "Book a table in Paris" → approved',
      "agent: That is that.",
    ].join("\n"),
  );
});

test("the error for an invalid config contains the field", async () => {
  const config = { instructions: "Be brief.", maxSteps: 0 };

  await expect(startTalk({ config, tools: {}, model: scripted([]) })).rejects.toThrow(/maxSteps/);
});

const settings = z.object({ size: z.number() });
const off = { needsSettings: true, settings, description: "L.", input: z.object({}) } as const;

test.each([
  ["its own settings", defineTool({ ...off, run: () => ({}) })],
  ["settings that it shares", defineTool({ ...off, sharedSettings: "lamps", run: () => ({}) })],
])("a tool that needs %s is off without them, as when it is loaded", async (_what, lamp) => {
  const seen: unknown[] = [];
  const model = scripted(({ body }) => {
    seen.push(body["tools"] ?? []);
    return "Yes.";
  });
  await using talk = await startTalk({ config: { instructions: "You help." }, tools: { lamp }, model });

  await talk.say("Light?");

  expect(seen).toEqual([[]]);
});

test("a tool receives its shared settings", async () => {
  const lamp = defineTool({
    ...off,
    sharedSettings: "lamps",
    run: (_input, context) => ({ size: context.settings.size }),
  });
  const config = { instructions: "You help.", toolSettings: { lamps: { size: 3 } } };
  const model = scripted([{ use: { lamp: {} } }, "It is on."]);
  await using talk = await startTalk({ config, tools: { lamp }, model });

  expect(await talk.say("Light?")).toHaveCalled("lamp", {}, { result: { size: 3 } });
});
