import { expect, test } from "vitest";
import { cassette, scripted, startTalk, type TalkOptions } from "../../src/testing/index.ts";

test.each([
  [{ mock: {} }, '"mock" is not a field of startTalk. Did you mean "mocks"?'],
  [{ tool: {} }, '"tool" is not a field of startTalk. Did you mean "tools"?'],
])("startTalk refuses %j, with which real tools would run", async (options, message) => {
  const misspelt = { model: scripted([]), config: { instructions: "Help." }, ...options } as TalkOptions;

  await expect(startTalk(misspelt)).rejects.toThrow(new TypeError(message));
});

test("options of a talk and of a cassette are refused when they are misspelt", async () => {
  await using talk = await startTalk({ model: scripted([]), config: { instructions: "Help." }, tools: {} });

  await expect(talk.say("Hi", { within: 5 } as object)).rejects.toThrow('Did you mean "withinMs"?');
  await expect(talk.nextTurn({ timeoutMs: 5 } as object)).rejects.toThrow('"timeoutMs" is not a field of nextTurn');
  expect(() => talk.permission("approve", { tools: "x" } as object)).toThrow('Did you mean "tool"?');
  expect(() => cassette("a.json", { redacts: [] } as object)).toThrow('Did you mean "redact"?');
});
