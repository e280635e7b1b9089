import { expect, test } from "vitest";
import { SPOKEN_ANSWERS, readYesOrNo } from "../../src/permission/spoken-answers.ts";

test.each([
  ["en", "Yes."],
  ["en-GB", "Yes, please!"],
  ["en", "OK, go ahead"],
  [undefined, "Sure, thanks"],
  ["de", "Ja, gerne"],
  ["de-AT", "Natürlich!"],
  ["es", "¡Sí, por favor!"],
  ["fr", "D’accord"],
  ["it", "Sì"],
  ["pt-BR", "Está bem"],
  ["nl", "Ja hoor"],
  ["ja-JP", "yes"],
])("in %s, %j is a yes", (language, text) => {
  expect(readYesOrNo(text, language)).toBe("yes");
});

test.each([
  ["en", "No no"],
  ["en", "Don't do it"],
  ["de", "Nein, danke"],
  ["es", "No, gracias"],
  ["fr", "Non merci"],
  ["it", "Meglio di no"],
  ["pt", "NÃO"],
  ["nl", "doe maar niet"],
])("in %s, %j is a no", (language, text) => {
  expect(readYesOrNo(text, language)).toBe("no");
});

test.each([
  ["en", "What would it write?"],
  ["en", "No problem"],
  ["en", "yes and no"],
  ["en", "please"],
  ["en", "yes yes yes yes yes"],
  ["en", "Yes, but put it into another file"],
  ["en", "ja"],
  ["de", "ja nein"],
  ["en", ""],
  ["en", "..."],
])("in %s, %j is neither", (language, text) => {
  expect(readYesOrNo(text, language)).toBeUndefined();
});

test.each(Object.entries(SPOKEN_ANSWERS))("in %s, every listed word has the meaning of its list", (language, lists) => {
  for (const word of lists.yes) expect([word, readYesOrNo(word, language)]).toEqual([word, "yes"]);
  for (const word of lists.no) expect([word, readYesOrNo(word, language)]).toEqual([word, "no"]);
});
