import { expect, test } from "vitest";
import { Backchannels } from "../../../src/voice/listen/backchannels.ts";

const backchannels = new Backchannels({ en: ["sure thing"], de: ["na dann?"] });

test.each([
  ["Mhm.", "en"],
  ["Mm-hmm.", "en"],
  ["Uh-huh.", "en"],
  ["Aha.", "en"],
  ["Yeah.", "en"],
  ["Yes, yes.", "en-GB"],
  ["Okay, got it.", "en"],
  ["Yeah, sure thing.", "en"],
  ["All right.", undefined],
  ["Ja, genau.", "de"],
  ["Na dann?", "de"],
  ["D’accord.", "fr"],
  ["Sí, claro.", "es"],
  ["はい", "ja"],
  ["うんうん。", "ja"],
  ["嗯嗯。", "zh"],
  ["Hm.", "sv"],
])("%s in %s means that one listens", (text, language) => {
  expect(backchannels.has(text, language)).toBe(true);
});

test.each([
  ["Stop.", "en"],
  ["No.", "en"],
  ["Wait.", "en"],
  ["Okay, stop.", "en"],
  ["Yes, but what about tomorrow?", "en"],
  ["Yes, yes, yes, yes, yes.", "en"],
  ["Oh no!", "en"],
  ["Really not.", "en"],
  ["Yesterday", "en"],
  ["Nein.", "de"],
  ["Ja, aber morgen?", "de"],
  ["Yes.", "ja"],
  ["はい、でも", "ja"],
  ["", "en"],
  ["?!", "en"],
])("%s in %s means that one wants to speak", (text, language) => {
  expect(backchannels.has(text, language)).toBe(false);
});
