import { expect, test } from "vitest";
import { SpokenWords } from "../../../src/voice/speak/spoken-words.ts";
import { type Speakable, voiceSchema } from "../../../src/voice/voice-settings.ts";

function wordsOf(speakable?: Speakable) {
  const problems: unknown[] = [];
  const settings = voiceSchema.parse({ pronounce: { Parley: "par-lee" }, ...(speakable && { speakable }) });
  return { words: new SpokenWords({ ...settings, onProblem: (error) => problems.push(error) }), problems };
}

test("speakable is called with the words that would be spoken without it, and with the language", async () => {
  const { words, problems } = wordsOf((text, { language }) => `${language}: ${text.replace("percent", "per cent")}`);

  expect(await words.rewrite("Parley is 5% off.", "en")).toBe("en: par-lee is 5 per cent off.");
  expect(problems).toEqual([]);
});

const BROKEN: Readonly<Record<string, Speakable>> = {
  throws: () => {
    throw new Error("no dictionary");
  },
  hangs: () => new Promise(() => {}),
  "returns a number": () => 7 as never,
};

test.each(Object.keys(BROKEN))("if speakable %s, the words are spoken as they are", async (name) => {
  const { words, problems } = wordsOf(BROKEN[name]);

  expect(await words.rewrite("Parley.", "en")).toBe("par-lee.");
  expect(problems).toHaveLength(1);
});

test("without words, speakable is not called", async () => {
  const { words } = wordsOf(() => "Never.");

  expect(await words.rewrite(" ", "en")).toBe(" ");
});
