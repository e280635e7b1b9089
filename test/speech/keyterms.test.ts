import { expect, test } from "vitest";
import { Keyterms } from "../../src/speech/listen/keyterms.ts";

const keyterms = new Keyterms(["Ceviche", "LiveKit", "Castellano", "Sunny Hill", "Siobhan", "Ikea"]);

test.each([
  ["Can you call Casselano tomorrow morning?", "Can you call Castellano tomorrow morning?"],
  ["I would like to order live kit please.", "I would like to order LiveKit please."],
  ["I would like to order Siviche, please.", "I would like to order Ceviche, please."],
  ["The life kit's price", "The LiveKit's price"],
  ["tell me about sunny hill", "tell me about Sunny Hill"],
])("words that sound like a keyterm are replaced by it: %s", (transcript, corrected) => {
  expect(keyterms.correct(transcript)).toBe(corrected);
});

test.each([
  "",
  "Please open the list, and then read it to me.",
  "Live, kit and all.",
  "Where is the key to the kitchen?",
  "Ich hätte gern zwei Brötchen.",
  "はい、お願いします",
])("other words stay as they are: %s", (transcript) => {
  expect(keyterms.correct(transcript)).toBe(transcript);
});

test("of two keyterms that sound like the same words, the more similar one replaces them", () => {
  expect(new Keyterms(["Catherine", "Kathryn"]).correct("Ask kathrin about it.")).toBe("Ask Kathryn about it.");
});

test("without keyterms, a transcript stays as it is", () => {
  expect(new Keyterms([]).correct("live kit")).toBe("live kit");
});
