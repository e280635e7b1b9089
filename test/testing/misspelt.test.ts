import { expect, test } from "vitest";
import { answer, cassette, leave, matchers, never, scripted, startTalk, throws } from "../../src/testing/index.ts";
import type { Turn } from "../../src/testing/turn.ts";

const MODEL = scripted(["Hello."]);
const CONFIG = { instructions: "x" };
const TURN = { calls: [], asked: [], text: "" } as unknown as Turn;

test.each<[string, () => unknown]>([
  ["timeout", () => answer({}, { timeout: 5 } as never)],
  ["descripton", () => never({ descripton: "x" } as never)],
  ["backAfter", () => leave({ backAfter: 5 } as never)],
  ["cod", () => throws("x", { cod: "x" } as never)],
  ["redakt", () => cassette("x", { redakt: [] } as never)],
  ["error", () => matchers.toHaveCalled.call({}, TURN, "x", {}, { error: "x" } as never)],
  ["titel", () => matchers.toHaveAsked(TURN, "x", { titel: "x" } as never)],
])("%s is refused, because it would be silently ignored", (name, make) => {
  expect(make).toThrow(`"${name}" is not a field of`);
});

test("a misspelt option of startTalk is refused, with a suggestion", async () => {
  await expect(startTalk({ model: MODEL, config: CONFIG, tools: {}, mock: {} } as never)).rejects.toThrow(
    '"mock" is not a field of startTalk\'s options. Did you mean "mocks"?',
  );
});

test("misspelt options of a talk's methods, and unknown answers, are refused", async () => {
  await using talk = await startTalk({ model: MODEL, config: CONFIG, tools: {} });

  await expect(talk.say("Hi", { within: 5 } as never)).rejects.toThrow('Did you mean "withinMs"?');
  expect(() => talk.permission("approve", { tools: "x" } as never)).toThrow('Did you mean "tool"?');
  expect(() => talk.permission("aprove" as never)).toThrow("expected one of approve, always, reject, none");
});

test("a misspelt field in a scripted reply is refused when the model is opened", async () => {
  await expect(scripted([{ say: "x", after: 5 } as never]).open()).rejects.toThrow('Did you mean "afterMs"?');
});
