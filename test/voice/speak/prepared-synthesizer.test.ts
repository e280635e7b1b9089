import { expect, test } from "vitest";
import type { Synthesizer } from "../../../src/voice/providers/synthesizer.ts";
import { PreparedSynthesizer } from "../../../src/voice/speak/prepared-synthesizer.ts";

const { signal } = new AbortController();

/** A voice whose sound is the text itself. */
function voice({ fails = 0 } = {}) {
  const asked: string[] = [];
  const aborted: string[] = [];
  const speak: Synthesizer["speak"] = async function* (text, options) {
    const index = asked.push("") - 1;
    options.signal.addEventListener("abort", () => aborted.push(asked[index] ?? ""));
    for await (const piece of text) {
      asked[index] += piece;
      if (index < fails) throw new Error("No sound");
      if (options.signal.aborted) return;
      yield piece as never;
    }
  };
  return { asked, aborted, prepared: new PreparedSynthesizer({ speak, close: async () => {} }) };
}

async function soundOf(synthesizer: Synthesizer, texts: readonly string[], language = "en"): Promise<string> {
  async function* pieces() {
    yield* texts;
  }
  let sound = "";
  for await (const frame of synthesizer.speak(pieces(), { language, signal })) sound += frame as never;
  return sound;
}

test.each([
  ["in one piece", ["It is ten. Good night."]],
  ["letter by letter", "It is ten. Good night.".split("")],
  ["with blanks before it", [" ", "\n", "It is", " ten.", " ", "Good night."]],
])("an answer that starts with the prepared sentence, %s, uses its sound and then the rest", async (_, texts) => {
  const { asked, prepared } = voice();
  prepared.prepare("It is ten.", "en");
  expect(await soundOf(prepared, texts)).toBe("It is ten.Good night.");
  expect(asked).toEqual(["It is ten.", "Good night."]);
});

test("an answer that consists only of the prepared sentence asks the voice for nothing more", async () => {
  const { asked, prepared } = voice();
  prepared.prepare("It is ten.", "en");
  expect(await soundOf(prepared, ["It is ten.", " "])).toBe("It is ten.");
  expect(asked).toEqual(["It is ten."]);
});

test.each([
  ["other words", ["It is", " nine."], "en"],
  ["fewer words", ["It is"], "en"],
  ["another language", ["It is ten."], "de"],
])("%s are spoken as if nothing had been prepared", async (_, texts, language) => {
  const { prepared } = voice();
  prepared.prepare("It is ten.", "en");
  expect(await soundOf(prepared, texts, language)).toBe(texts.join(""));
});

test("words said before the answer do not use up what was prepared for it", async () => {
  const { asked, prepared } = voice();
  prepared.prepare("It is ten.", "en");
  expect(await soundOf(prepared, ["One moment."])).toBe("One moment.");
  expect(await soundOf(prepared, ["It is ten."])).toBe("It is ten.");
  expect(asked).toEqual(["It is ten.", "One moment."]);
});

test("a prepared sentence is used once", async () => {
  const { asked, prepared } = voice();
  prepared.prepare("It is ten.", "en");
  await soundOf(prepared, ["It is ten."]);
  await soundOf(prepared, ["It is ten."]);
  expect(asked).toEqual(["It is ten.", "It is ten."]);
});

test("a sentence that is discarded, or replaced, is aborted and never heard", async () => {
  const { aborted, asked, prepared } = voice();
  prepared.prepare("One.", "en");
  await expect.poll(() => asked).toEqual(["One."]);
  const throwAway = prepared.prepare("Two.", "en");
  await expect.poll(() => asked).toEqual(["One.", "Two."]);
  throwAway();
  expect(aborted).toEqual(["One.", "Two."]);
  expect(await soundOf(prepared, ["Two."])).toBe("Two.");
  expect(asked).toEqual(["One.", "Two.", "Two."]);
});

test("a sound that could not be prepared is generated again", async () => {
  const { asked, prepared } = voice({ fails: 1 });
  prepared.prepare("It is ten.", "en");
  expect(await soundOf(prepared, ["It is", " ten."])).toBe("It is ten.");
  expect(asked).toEqual(["It is ten.", "It is ten."]);
});
