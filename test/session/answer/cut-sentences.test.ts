import fc from "fast-check";
import { expect, test } from "vitest";
import { cutSentences } from "../../../src/session/answer/cut-sentences.ts";
import { SentenceStream } from "../../../src/session/answer/sentence-stream.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

/** The sentences in a text that arrives a character at a time, as from a model. */
function sentencesOf(text: string, language: string | undefined): string[] {
  const sentences: string[] = [];
  const stream = new SentenceStream(
    { onSentence: (sentence) => sentences.push(sentence.text), onText: () => {} },
    { language },
  );
  for (const character of text) stream.write(character);
  stream.end();
  return sentences.filter(Boolean);
}

test.each([
  ["en", "Mr. and Mrs. Smith met Dr. Who at St. Mary's. Then they left.", 2],
  ["en", "On Jan. 5 at 5 p.m. Sharp Inc. Paid $3.50. I don't. Ok?", 3],
  ["en", "1. Boil the water.\n2. Add salt. Stir.\nIV. Done.", 4],
  ["en", "a. Boil the water.\n**12.** Add salt.", 2],
  ["en", "See https://example.com/a.b?c=d&e=F! It is at example.com/x?Y=1.2. Good.", 3],
  ["en", "J. R. R. Tolkien lived in the U.K. And in the U.S. Army. He wrote.", 2],
  ["en", "Well... Perhaps. So… Or so.", 2],
  ["en", "No. I don't know no. 5, fig. 3 and pp. 7 to 9. He said “Go!” Then he went.", 4],
  ["es", "El Sr. Pérez y la Dra. Gil viven en la Avda. Goya, núm. 5. Adiós.", 2],
  ["fr", "Mme. Curie et M. Dupont sont là. Bonjour. Voir p. 5, éd. Seuil. Fin.", 4],
  ["pt", "O Sr. Silva e a Profa. Lima chegaram. Veja a pág. Dois. Fim.", 3],
  ["de", "Am 3. Oktober kommt z. B. Herr Dr. Maier bzw. Frau Prof. Rot. Gut.", 2],
  ["it", "Il Sig. Rossi e l'avv. Bianchi, ecc. Poi basta. Fine.", 2],
  ["nl", "Dhr. Jansen en mevr. De Vries, d.w.z. Anna. Klaar.", 2],
  ["ru", "Он живёт на ул. Ленина, в г. Москва, и т. д. Потом ушёл. Да.", 2],
  ["id", "Bpk. Budi tinggal di Jl. Sudirman. Baik.", 2],
  ["hi", "यह डॉ. शर्मा हैं। वे आए। क्या?", 3],
  ["bn", "ডা. রহমান এসেছেন। ভালো।", 2],
  ["ar", "وصل د. أحمد اليوم. كيف الحال؟ بخير.", 3],
  ["ur", "وہ آئے۔ کیا حال ہے؟ ٹھیک۔", 3],
  ["zh", "你好。今天天气很好！是吗？对。", 4],
])("in %s, %j has %i sentences", (language, text, count) => {
  expect(sentencesOf(text, language)).toHaveLength(count);
});

const WORDS = ["apple", "river", "stone", "very", "green", "house", "walks", "over", "Élan", "über", "gut", "città"];
/** Texts that contain a full stop, a question mark or an exclamation mark but do not end a sentence. */
const UNCUT = [
  "https://example.com/a.b?c=d",
  "http://x.org/Path?Q=1!2.Html",
  "example.com",
  "user.name@mail.example.com",
  "3.14",
  "1,234.56",
  "v1.2.3",
  "192.168.0.1",
  "J. R. R. Tolkien",
  "U.S. Army",
  "e.g. Apples",
  "wait... What",
  "Mr. Smith",
  "Mrs. Jones",
  "Dr. Who",
  "Jan. Five",
  "St. Paul",
  "Sra. Gil",
  "Mme. Curie",
  "Sig. Rossi",
  "z. B. Apfel",
  "bzw. Birnen",
  "ул. Ленина",
  "Dhr. Jansen",
  "Jl. Sudirman",
  "डॉ. शर्मा",
  "প্রফেসর. রহমান",
  "د. أحمد",
  "وم. حسن",
  "EE. UU. Norte",
  "Dª. Ana",
  "p. ej. Hoy",
  "p. ex. Paris",
  "Ltda. Lisboa",
  "кв. Семь",
  "tgl. Enam",
  "Hj. Siti",
  "Abb. Drei",
  "Mio. Euro",
];
const LANGUAGES = [
  undefined,
  "en",
  "zh",
  "hi",
  "es",
  "fr",
  "ar",
  "bn",
  "pt",
  "ru",
  "ur",
  "id",
  "de",
  "it",
  "nl",
  "x-y",
];

const word = fc.constantFrom(...WORDS);
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const plain = fc
  .tuple(fc.array(word, { minLength: 2, maxLength: 8 }), fc.constantFrom(".", "!", "?"))
  .map(([words, stop]) => capital(words.join(" ")) + stop);
/** A sentence with one of these texts in the middle. */
const mixed = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 4 }), fc.constantFrom(...UNCUT), fc.array(word, { minLength: 1 }))
  .map(([before, uncut, after]) => `${capital(before.join(" "))} ${uncut} ${after.join(" ")}.`);

test("no sentence is split where none ends, and none runs into the next", () => {
  const sentences = fc.array(fc.oneof(plain, mixed), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(sentences, fc.constantFrom(...LANGUAGES), (said, language) => {
      expect(sentencesOf(said.join(" "), language)).toEqual(said);
    }),
    { numRuns: propertyRuns(200), seed: propertySeed() },
  );
});

test("a plain sentence is sent with the first letter of the next", () => {
  fc.assert(
    fc.property(plain, plain, fc.constantFrom(...LANGUAGES), (one, other, language) => {
      const first: string[] = [];
      const stream = new SentenceStream({ onSentence: ({ text }) => first.push(text), onText: () => {} }, { language });
      for (const character of `${one} ${other.charAt(0)}`) stream.write(character);
      expect(first).toEqual([one]);
    }),
    { numRuns: propertyRuns(200), seed: propertySeed() },
  );
});

test("the parts of any text add up to the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom(...LANGUAGES), (text, language) => {
      expect(cutSentences(text, language).join("")).toBe(text);
    }),
    { numRuns: propertyRuns(200), seed: propertySeed() },
  );
});
